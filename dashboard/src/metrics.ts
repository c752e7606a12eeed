// The metrics that a chart can show.
import type { JsonSeries } from '../../src/contract/report-json.ts'
import type { AttributionProfile } from '../../src/contract/report-request.ts'
import { minorDigits } from '../../src/domain/currency.ts'
import { listDays } from '../../src/domain/day.ts'
import { formatAmount } from '../../src/domain/money.ts'
import type { Row } from './columns.ts'
import type { ChartSeries } from './components/time-chart.tsx'
import { formatCount, formatMoney, formatPercent, formatRatio, type Figure } from './format.ts'
import { profileNames, profiles, type View } from './view.ts'

export interface Metric {
  readonly name: string
  readonly label: string
  readonly color: string
  readonly scale: string
  /** The values of a day without rows: counts are 0, and a ratio over 0 has no value. */
  readonly whenAbsent: 'count' | 'money' | null
  readonly print: (value: Figure, currency: Figure) => string
}

const count = (name: string, label: string, color: string): Metric => ({
  name,
  label,
  color,
  scale: name,
  whenAbsent: 'count',
  print: formatCount,
})

export const metrics: readonly Metric[] = [
  count('IMPRESSIONS', 'Impressions', 'series-1'),
  count('CLICKS', 'Clicks', 'series-2'),
  {
    name: 'AD_SPEND_REVENUE',
    label: 'Spend',
    color: 'series-3',
    scale: 'money',
    whenAbsent: 'money',
    print: formatMoney,
  },
  {
    name: 'CONVERSION_VALUE',
    label: 'Value',
    color: 'series-4',
    scale: 'money',
    whenAbsent: 'money',
    print: formatMoney,
  },
  {
    name: 'RETURN_ON_AD_SPEND',
    label: 'ROAS',
    color: 'series-5',
    scale: 'RETURN_ON_AD_SPEND',
    whenAbsent: null,
    print: formatRatio,
  },
]

/** The metrics that depend on the profile. */
export const comparedMetrics: readonly Metric[] = [
  ...metrics.filter(({ name }) => name === 'CONVERSION_VALUE'),
  count('ORDERS', 'Orders', 'series-2'),
  count('UNITS_SOLD', 'Units sold', 'series-2'),
  ...metrics.filter(({ name }) => name === 'RETURN_ON_AD_SPEND'),
  {
    name: 'CONVERSION_RATE',
    label: 'Conversion rate',
    color: 'series-1',
    scale: 'CONVERSION_RATE',
    whenAbsent: null,
    print: formatPercent,
  },
]

export const defaultMetrics = ['AD_SPEND_REVENUE', 'CONVERSION_VALUE', 'CLICKS']

export function daysOf({ startDate, endDate }: Pick<View, 'startDate' | 'endDate'>) {
  return listDays(startDate, endDate)
}

/** The currencies of an answer, the one with the most impressions first. */
export function currenciesOf({ totals }: JsonSeries): readonly string[] {
  return totals
    .toSorted((one, other) => Number(other['IMPRESSIONS']) - Number(one['IMPRESSIONS']))
    .map((row) => row['CURRENCY'] ?? '')
}

export function totalOf({ totals }: JsonSeries, currency: string): Row | null {
  return totals.find((row) => row['CURRENCY'] === currency) ?? null
}

function rowsByDay({ days }: JsonSeries, currency: string): ReadonlyMap<string, Row> {
  return new Map(
    days.filter((row) => row['CURRENCY'] === currency).map((row) => [row['DATE'] ?? '', row])
  )
}

interface Drawn {
  readonly days: readonly string[]
  readonly currency: string
}

export function seriesOfMetrics(
  answer: JsonSeries,
  chosen: readonly Metric[],
  { days, currency }: Drawn
): readonly ChartSeries[] {
  const rows = rowsByDay(answer, currency)
  return chosen.map((metric) => ({
    name: metric.name,
    label: metric.label,
    color: metric.color,
    scale: metric.scale,
    values: days.map((day) => valueOf(rows.get(day), metric, currency)),
    print: (value) => metric.print(value, currency),
  }))
}

export type Comparison = Readonly<Record<AttributionProfile, JsonSeries>>

const profileColors = ['series-4', 'series-1', 'series-3'] as const

/** One metric under each profile. */
export function seriesOfProfiles(
  answers: Comparison,
  metric: Metric,
  { days, currency }: Drawn
): readonly ChartSeries[] {
  return profiles.map((profile, place) => {
    const rows = rowsByDay(answers[profile], currency)
    return {
      name: profile,
      label: profileNames[profile],
      color: profileColors[place] ?? 'series-1',
      scale: metric.scale,
      values: days.map((day) => valueOf(rows.get(day), metric, currency)),
      print: (value) => metric.print(value, currency),
    }
  })
}

function valueOf(row: Row | undefined, { name, whenAbsent }: Metric, currency: string): Figure {
  if (row !== undefined) return row[name] ?? null
  if (whenAbsent === 'money') return formatAmount(0n, minorDigits(currency))
  return whenAbsent === 'count' ? '0' : null
}
