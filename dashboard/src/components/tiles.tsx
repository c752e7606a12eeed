import { useState } from 'preact/hooks'
import type { Row } from '../columns.ts'
import { changeOf } from '../format.ts'
import { lineColors, metrics, printShown, type Metric } from '../metrics.ts'
import { ChangeMark } from './change-mark.tsx'
import { Figure, leftOut } from './figure.tsx'
import { descriptionOf, Words } from './term.tsx'
import { t } from '../language.ts'

/** What the totals are compared with. */
export type TileBase =
  | { readonly state: 'loading' }
  /** There is nothing to compare with; the words stand in each tile. */
  | { readonly state: 'none'; readonly words: string }
  /** Null if nothing was counted then. */
  | { readonly state: 'known'; readonly total: Row | null }

interface TilesProps {
  readonly total: Row
  /** Whether amounts of other currencies are in it. */
  readonly isConverted?: boolean
  readonly base: TileBase
  /** The metrics of the chart, in the order of its lines. */
  readonly chosen: readonly Metric[]
  readonly onChoose: (name: string) => void
}

/** Longer figures need wider tiles. */
const usualLengthMax = 12

/** A press on a tile draws its metric. */
export function Tiles({ total, isConverted = false, base, chosen, onChoose }: TilesProps) {
  const currency = total['CURRENCY']
  const [isWhole, setIsWhole] = useState(false)
  const shownOf = (metric: Metric) =>
    printShown(metric, total[metric.name], { currency, isConverted })
  const longest = Math.max(...metrics.map((metric) => shownOf(metric).length))
  return (
    <>
      <dl
        class={`tiles ${isWhole ? 'whole' : ''} ${longest > usualLengthMax ? 'of-long' : ''}`}
        aria-label={t('Totals')}
        style={{ '--longest': longest }}
      >
        {metrics.map((metric) => {
          const { name, label, isMain = false } = metric
          const place = chosen.indexOf(metric)
          const shown = shownOf(metric)
          return (
            <div
              key={name}
              class={`tile ${isMain ? 'main' : ''} ${lineColors[place] ?? ''}`}
              data-total={name}
            >
              <dt>
                <button
                  type="button"
                  aria-pressed={place >= 0}
                  aria-describedby={descriptionOf(name)}
                  // It lies over the whole tile, also over the figure.
                  title={leftOut(total[name], shown) ?? t('Draw it, or not')}
                  onClick={() => onChoose(name)}
                >
                  <Words term={name}>{label}</Words>
                </button>
              </dt>
              <dd>
                <span class="value">
                  <Figure exact={total[name]} shown={shown} />
                </span>
                <Change {...{ metric, total, base, isConverted }} />
              </dd>
            </div>
          )
        })}
      </dl>
      <button
        type="button"
        class="phone-only"
        aria-expanded={isWhole}
        onClick={() => setIsWhole(!isWhole)}
      >
        {isWhole ? t('Fewer totals') : t('More totals')}
      </button>
    </>
  )
}

interface ChangeProps extends Pick<TilesProps, 'total' | 'base'> {
  readonly metric: Metric
  readonly isConverted: boolean
}

function Change({ metric, total, base, isConverted }: ChangeProps) {
  const { name, isGoodWhenMore } = metric
  if (base.state === 'loading') return <span class="change loading">…</span>
  if (base.state === 'none') return <span class="change">{base.words}</span>
  const before = base.total?.[name]
  const change = changeOf(total[name], before)
  if (change === null) return <span class="change">{t('none before')}</span>
  return (
    <ChangeMark {...{ change, isGoodWhenMore }}>
      {' '}
      <span class="before">
        {t('from {{value}}', {
          value: printShown(metric, before, { currency: total['CURRENCY'], isConverted }),
        })}
      </span>
    </ChangeMark>
  )
}

/** Stands where the figures will be, in their size, so that nothing moves when they come. */
export function FiguresToCome() {
  return (
    <div class="to-come loading" role="status">
      <span class="unseen">{t('Loading the figures …')}</span>
      <div class="tiles" aria-hidden="true">
        {metrics.map(({ name, label, isMain = false }) => (
          <div key={name} class={`tile ${isMain ? 'main' : ''}`}>
            <span class="muted">{label}</span>
            <span class="blank" />
          </div>
        ))}
      </div>
      <div class="card blank-chart" aria-hidden="true" />
    </div>
  )
}
