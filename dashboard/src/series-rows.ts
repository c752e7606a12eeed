// The sums of a period as pages show them: by currency, or of all currencies in one.
import type { JsonSeries } from '../../src/contract/report-json.ts'
import type { Row } from './columns.ts'
import { currenciesOf } from './metrics.ts'
import type { MarketDays } from './periods.ts'
import { chooseCurrency } from './shown-currency.ts'

export interface SeriesRows extends Omit<JsonSeries, 'days' | 'totals' | 'converted'> {
  readonly days: readonly Row[]
  readonly totals: readonly Row[]
  /** Of sums in one currency: what they were converted from, and what of it has no rate. */
  readonly originals?: readonly Row[]
  readonly withoutRate?: readonly Row[]
}

/** With a currency that was asked for, the days and totals of all currencies in this one. */
export function seriesRows({ converted, ...answer }: JsonSeries): SeriesRows {
  if (converted === undefined) return answer
  const { WITHOUT_RATE: withoutRate = [], ...total } = converted.totals ?? {}
  return {
    ...answer,
    days: converted.days.map(({ WITHOUT_RATE: _without, ...day }) => day),
    totals: converted.totals === null ? [] : [total],
    originals: answer.totals,
    withoutRate,
  }
}

/** The currencies in which the figures can be shown, and the one in which they are. */
export function currencyOf(
  answer: SeriesRows | null,
  chosen: string | null,
  { lastWholeOf: own }: MarketDays
) {
  const totals = answer?.originals ?? answer?.totals ?? []
  return chooseCurrency(chosen, { found: currenciesOf({ totals }), own })
}
