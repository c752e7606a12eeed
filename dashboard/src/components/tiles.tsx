import type { Row } from '../columns.ts'
import {
  changeOf,
  formatChange,
  formatCount,
  formatMoney,
  formatPercent,
  formatRatio,
  type Figure as FigureText,
} from '../format.ts'
import { Figure } from './figure.tsx'

interface Tile {
  readonly name: string
  readonly label: string
  readonly print: (value: FigureText, currency: FigureText) => string
  /** Whether more is better; spend is neither. */
  readonly isGoodWhenMore: boolean | null
}

const tiles: readonly Tile[] = [
  { name: 'IMPRESSIONS', label: 'Impressions', print: formatCount, isGoodWhenMore: true },
  { name: 'CLICKS', label: 'Clicks', print: formatCount, isGoodWhenMore: true },
  {
    name: 'CLICK_THROUGH_RATE',
    label: 'Click-through rate',
    print: formatPercent,
    isGoodWhenMore: true,
  },
  { name: 'AD_SPEND_REVENUE', label: 'Spend', print: formatMoney, isGoodWhenMore: null },
  { name: 'ORDERS', label: 'Orders', print: formatCount, isGoodWhenMore: true },
  { name: 'UNITS_SOLD', label: 'Units sold', print: formatCount, isGoodWhenMore: true },
  { name: 'CONVERSION_VALUE', label: 'Value', print: formatMoney, isGoodWhenMore: true },
  {
    name: 'RETURN_ON_AD_SPEND',
    label: 'Return on ad spend',
    print: formatRatio,
    isGoodWhenMore: true,
  },
]

interface TilesProps {
  readonly total: Row
  /** Null if there was nothing in the period before. */
  readonly before: Row | null
}

export function Tiles({ total, before }: TilesProps) {
  const currency = total['CURRENCY']
  return (
    <dl class="tiles" aria-label="Totals">
      {tiles.map(({ name, label, print, isGoodWhenMore }) => (
        <div key={name} class="tile" data-total={name}>
          <dt>{label}</dt>
          <dd>
            <span class="value">
              <Figure exact={total[name]} shown={print(total[name], currency)} />
            </span>
            <Change
              change={changeOf(total[name], before?.[name])}
              before={print(before?.[name], currency)}
              isGoodWhenMore={isGoodWhenMore}
            />
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface ChangeProps {
  readonly change: number | null
  readonly before: string
  readonly isGoodWhenMore: boolean | null
}

function Change({ change, before, isGoodWhenMore }: ChangeProps) {
  if (change === null) return <span class="change">none before</span>
  const isFlat = Math.abs(change) < 0.0005
  const tone =
    isFlat || isGoodWhenMore === null ? '' : change > 0 === isGoodWhenMore ? 'good' : 'bad'
  return (
    <span class={`change ${tone}`}>
      <span aria-hidden="true">{isFlat ? '→' : change > 0 ? '↑' : '↓'}</span> {formatChange(change)}{' '}
      <span class="before">from {before}</span>
    </span>
  )
}
