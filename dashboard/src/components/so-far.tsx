import type { Row } from '../columns.ts'
import { formatRange } from '../format.ts'
import { latestOf } from '../loaded.ts'
import { currenciesOf, metrics, totalOf } from '../metrics.ts'
import { daysOfPeriod, openPeriods, type MarketDays } from '../periods.ts'
import { useOverview } from '../reports.ts'
import { addressOf, withQuery } from '../router.ts'
import type { View } from '../view.ts'
import { Figure } from './figure.tsx'
import { t } from '../language.ts'

interface SoFarProps {
  readonly advertiserId: number
  readonly view: View
  readonly query: URLSearchParams
  readonly market: MarketDays
  /** Of the page, so that both can be added up; null while it has none. */
  readonly currency: string | null
}

const shownNames = new Set([
  'AD_SPEND_REVENUE',
  'CONVERSION_VALUE',
  'ORDERS',
  'CLICKS',
  'IMPRESSIONS',
])

/**
 * What the days that are not over have so far, where the period leaves them out: an event is on the page that opens by
 * itself seconds after it happened, also where the market's day is not the reader's.
 */
export function SoFar(props: SoFarProps) {
  const { view } = props
  return view.includesToday || !openPeriods.has(view.period) ? null : <Running {...props} />
}

function Running({ advertiserId, view, query, market, currency: shown }: SoFarProps) {
  const days = daysOfPeriod({ name: 'today', includesToday: true }, market)
  const overview = useOverview(advertiserId, { ...view, ...days, interval: 'DAY' })
  const answer = latestOf(overview)
  if (answer === null) return null
  const currency = shown ?? currenciesOf(answer)[0]
  if (currency === undefined || answer.totals.length === 0) return null
  // Early in the day only one of the markets may have events, and the page may be of another.
  const total = totalOf(answer, currency)
  const address = addressOf(
    ['advertisers', advertiserId, 'performance'],
    withQuery(query, { today: 'included' })
  )
  return (
    <section class="notice so-far" aria-label={t('Not over yet')}>
      <strong>{t('{{days}}, so far:', { days: formatRange(days.startDate, days.endDate) })}</strong>{' '}
      <dl>
        {metrics
          .filter(({ name }) => shownNames.has(name))
          .map(({ name, label, kind, print }) => (
            <div key={name} data-so-far={name}>
              <dt>{label}</dt>{' '}
              <dd>
                {kind === 'money' && answer.originals !== undefined && '≈ '}
                <Figure
                  exact={valueIn(total, name)}
                  shown={print(valueIn(total, name), currency)}
                />
              </dd>
            </div>
          ))}
      </dl>{' '}
      <a href={address}>{t('Include these days')}</a>
    </section>
  )
}

/** Counts and amounts alone are shown, and without events they are 0. */
function valueIn(total: Row | null, name: string): string | null {
  return total === null ? '0' : (total[name] ?? null)
}
