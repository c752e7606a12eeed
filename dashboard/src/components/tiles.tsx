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

/** What the totals are compared with. */
export type TileBase =
  | { readonly state: 'loading' }
  /** There is nothing to compare with; the words stand in each tile. */
  | { readonly state: 'none'; readonly words: string }
  /** Null if nothing was counted then. */
  | { readonly state: 'known'; readonly total: Row | null }

interface TilesProps {
  readonly total: Row
  readonly base: TileBase
}

export function Tiles({ total, base }: TilesProps) {
  const currency = total['CURRENCY']
  return (
    <dl class="tiles" aria-label="Totals">
      {tiles.map((tile) => (
        <div key={tile.name} class="tile" data-total={tile.name}>
          <dt>{tile.label}</dt>
          <dd>
            <span class="value">
              <Figure exact={total[tile.name]} shown={tile.print(total[tile.name], currency)} />
            </span>
            <Change {...{ tile, total, base }} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface ChangeProps extends TilesProps {
  readonly tile: Tile
}

function Change({ tile: { name, print, isGoodWhenMore }, total, base }: ChangeProps) {
  if (base.state === 'loading') return <span class="change loading">…</span>
  if (base.state === 'none') return <span class="change">{base.words}</span>
  const before = base.total?.[name]
  const change = changeOf(total[name], before)
  if (change === null) return <span class="change">none before</span>
  const isFlat = Math.abs(change) < 0.0005
  const tone =
    isFlat || isGoodWhenMore === null ? '' : change > 0 === isGoodWhenMore ? 'good' : 'bad'
  return (
    <span class={`change ${tone}`}>
      <span aria-hidden="true">{isFlat ? '→' : change > 0 ? '↑' : '↓'}</span> {formatChange(change)}{' '}
      <span class="before">from {print(before, total['CURRENCY'])}</span>
    </span>
  )
}

/** Stands where the figures will be, in their size, so that nothing moves when they come. */
export function FiguresToCome() {
  return (
    <div class="to-come loading" role="status">
      <span class="unseen">Loading the figures …</span>
      <div class="tiles" aria-hidden="true">
        {tiles.map(({ name, label }) => (
          <div key={name} class="tile">
            <span class="muted">{label}</span>
            <span class="blank" />
          </div>
        ))}
      </div>
      <div class="card blank-chart" aria-hidden="true" />
    </div>
  )
}
