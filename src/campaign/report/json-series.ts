import type { JsonSeries } from '../../contract/report-series.ts'
import type { SeriesResult } from '../../reports/series.ts'
import { printSums } from './totals.ts'

export function jsonSeries(result: SeriesResult): JsonSeries {
  return {
    days: result.days.map(({ day, currency, ...sums }) => ({
      DATE: day,
      ...printSums(sums, currency),
    })),
    totals: result.totals.map(({ currency, ...sums }) => printSums(sums, currency)),
    completeThrough: result.completeThrough,
    unconverted: result.unconvertedCount,
  }
}
