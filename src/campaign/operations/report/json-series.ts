import type { JsonSeries } from '../../../contract/report-series.ts'
import type { SeriesResult, SeriesSums } from '../../../reports/series.ts'
import { printSums } from './totals.ts'

export function jsonSeries(result: SeriesResult): JsonSeries {
  return {
    days: result.days.map(({ day, ...sums }) => ({ DATE: day, ...printSeriesSums(sums) })),
    totals: result.totals.map(printSeriesSums),
    completeThrough: result.completeThrough,
    renewingDays: [...result.renewingDays],
    unconverted: result.unconvertedCount,
  }
}

function printSeriesSums({ currency, orders, ...sums }: SeriesSums) {
  return { ...printSums(sums, currency), ORDERS: orders === null ? null : String(orders) }
}
