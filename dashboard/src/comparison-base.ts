// Whether the figures of a period may be compared, and in which words that is said.
import type { SeriesRows } from './series-rows.ts'
import type { TileBase } from './components/tiles.tsx'
import { formatDay, formatRange } from './format.ts'
import { latestOf, type Loaded } from './loaded.ts'
import { totalOf } from './metrics.ts'
import type { MarketDays } from './periods.ts'
import { baseOf, type View } from './view.ts'
import { t } from './language.ts'

interface Compared {
  readonly view: View
  readonly market: MarketDays
  readonly currency: string
  readonly base: Loaded<SeriesRows | null>
  /** The first day with figures of the advertiser; null while it has none, or where that is unknown. */
  readonly firstDay: string | null
  /** Whether the figures are of the markets of all currencies. */
  readonly isConverted?: boolean
}

/** The last day of the period's markets that is over. */
export function lastWholeDay(market: MarketDays, currency: string): string {
  return market.lastWholeOf.get(currency) ?? market.lastWhole
}

interface Judged {
  readonly tile: TileBase
  readonly note: string
}

/** Figures are compared where both periods are whole: half a day against a whole one would be read as a loss. */
export function judgeBase(compared: Compared): Judged {
  const { view, market, currency, base, firstDay, isConverted = false } = compared
  const days = baseOf(view)
  if (view.base === 'none' || days === null) return none('', '')
  if (view.endDate > (isConverted ? market.lastWhole : lastWholeDay(market, currency))) {
    return none(t('so far'), t('The period is not over yet: its figures are not compared.'))
  }
  if (firstDay !== null && days.startDate < firstDay) {
    return none(
      t('no full period before'),
      t('There is no full period to compare with: figures begin on {{day}}.', {
        day: formatDay(firstDay),
      })
    )
  }
  const note = t('Changes are against {{days}}.', {
    days: formatRange(days.startDate, days.endDate),
  })
  if (base.state === 'failed')
    return none(t('not known'), `${note} ${t('These cannot be read now.')}`)
  const series = latestOf(base)
  if (series === null) return { tile: { state: 'loading' }, note }
  return { tile: { state: 'known', total: totalOf(series, currency) }, note }
}

function none(words: string, note: string): Judged {
  return { tile: { state: 'none', words }, note }
}
