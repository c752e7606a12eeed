import type { AdvertiserAccount } from '../../src/contract/me.ts'
import { addDays, dayOf } from '../../src/domain/day.ts'
import type { MarketDays } from './periods.ts'

type Places = Pick<AdvertiserAccount, 'markets' | 'publishers'>

/**
 * The days of the advertiser's markets at an instant; of all markets if it has access to none, of the reader if there
 * is no market at all.
 */
export function marketDaysAt({ markets, publishers }: Places, now: Date): MarketDays {
  const ownIds = new Set(publishers.flatMap(({ marketIds }) => marketIds))
  const own = markets.filter(({ id }) => ownIds.has(id))
  const shown = (own.length > 0 ? own : markets).map(({ currency, timeZone }) => ({
    currency,
    day: dayOf(now.getTime(), timeZone),
  }))
  const days = shown.map(({ day }) => day)
  const currencies = new Set(shown.map(({ currency }) => currency))
  const daysIn = (code: string) =>
    shown.filter(({ currency }) => currency === code).map(({ day }) => day)
  return {
    newest: days.toSorted().at(-1) ?? readersDay(now),
    lastWhole: lastWholeOf(days) ?? addDays(readersDay(now), -1),
    lastWholeOf: new Map([...currencies].map((code) => [code, lastWholeOf(daysIn(code)) ?? ''])),
  }
}

function lastWholeOf(days: readonly string[]): string | null {
  const [first] = days.toSorted()
  return first === undefined ? null : addDays(first, -1)
}

/** For some hours, that of a market differs. */
export function readersDay(date: Date): string {
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}
