// Whether the figures of a period may be compared, and in which words that is said.
import { baseOf, countDays, problemOfChoice } from './bases.ts'
import type { SeriesRows } from './series-rows.ts'
import type { TileBase } from './components/tiles.tsx'
import { formatDay, formatRange } from './format.ts'
import { latestOf, type Loaded } from './loaded.ts'
import { totalOf } from './metrics.ts'
import type { Days, MarketDays } from './periods.ts'
import type { View } from './view.ts'
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

/** Why figures are not compared: the period or the other days are not over, or begin before the first figures. */
export type NoBase = 'running' | 'unfinished' | 'young'

export const noBaseWords: Readonly<Record<NoBase, string>> = {
  running: t('so far'),
  unfinished: t('compared days not over'),
  young: t('no full period before'),
}

interface Periods {
  readonly period: Days
  readonly base: Days
  /** The last day that is over in the markets of the figures. */
  readonly lastWhole: string
  readonly firstDay: string | null
}

/** Figures are compared where both periods are whole: half a day against a whole one would be read as a loss. */
export function findNoBase({ period, base, lastWhole, firstDay }: Periods): NoBase | null {
  if (period.endDate > lastWhole) return 'running'
  if (base.endDate > lastWhole) return 'unfinished'
  return firstDay !== null && base.startDate < firstDay ? 'young' : null
}

interface Judged {
  readonly tile: TileBase
  readonly note: string
  /** Asks again for figures that could not be read; null where nothing failed. */
  readonly retry: (() => void) | null
}

export function judgeBase(compared: Compared): Judged {
  const { view, market, currency, base, firstDay, isConverted = false } = compared
  const days = baseOf(view)
  const problem = problemOfChoice(view) ?? ''
  if (days === null) return none('', problem)
  const lastWhole = isConverted ? market.lastWhole : lastWholeDay(market, currency)
  const reason = findNoBase({ period: view, base: days, lastWhole, firstDay })
  if (reason !== null) return none(noBaseWords[reason], noteOf(reason, firstDay))
  const note = noteOfDays(view, days)
  if (base.state === 'failed') {
    const failed = none(t('not known'), `${note} ${t('These cannot be read now.')}`)
    return { ...failed, retry: base.retry }
  }
  const series = latestOf(base)
  if (series === null) return { tile: { state: 'loading' }, note, retry: null }
  return { tile: { state: 'known', total: totalOf(series, currency) }, note, retry: null }
}

function noteOf(reason: NoBase, firstDay: string | null): string {
  switch (reason) {
    case 'running':
      return t('The period is not over yet: its figures are not compared.')
    case 'unfinished':
      return t('The days to compare with are not over yet: figures are not compared.')
    case 'young':
      return t('There is no full period to compare with: figures begin on {{day}}.', {
        day: formatDay(firstDay),
      })
  }
}

function noteOfDays(period: Days, base: Days): string {
  const note = t('Changes are against {{days}}.', {
    days: formatRange(base.startDate, base.endDate),
  })
  const [now, before] = [countDays(period), countDays(base)]
  if (now === before) return note
  return `${note} ${t('The two are not equally long: {{now}} and {{before}} days.', { now, before })}`
}

function none(words: string, note: string): Judged {
  return { tile: { state: 'none', words }, note, retry: null }
}
