// The metrics of tiles and charts, and their values as the points of a chart.
import type { SeriesRows } from './series-rows.ts'
import type { AttributionProfile } from '../../src/contract/report-request.ts'
import { minorDigits } from '../../src/domain/currency.ts'
import { formatAmount } from '../../src/domain/money.ts'
import type { ChartPoint } from './chart-points.ts'
import type { ChartSeries } from './components/time-chart.tsx'
import type { Row } from './columns.ts'
import {
  currencySymbol,
  formatCount,
  formatMoney,
  formatPercent,
  formatRatio,
  formatShort,
  formatShortPercent,
  nothing,
  type Figure,
} from './format.ts'
import { profileNames, profiles } from './view.ts'
import { unknownLast } from './shown-currency.ts'
import { t } from './language.ts'

export interface Metric {
  readonly name: string
  readonly label: string
  /** Metrics of one kind share an axis, except counts: impressions would flatten clicks. */
  readonly kind: 'count' | 'money' | 'percent' | 'ratio'
  readonly print: (value: Figure, currency: Figure) => string
  /** Whether more is better; spend is neither. */
  readonly isGoodWhenMore: boolean | null
  /** Among the four that a small screen shows first. */
  readonly isMain?: boolean
}

const count = (name: string, label: string): Metric => ({
  name,
  label,
  kind: 'count',
  print: formatCount,
  isGoodWhenMore: true,
})

/** In the order of the tiles. */
export const metrics: readonly Metric[] = [
  count('IMPRESSIONS', t('Impressions')),
  count('CLICKS', t('Clicks')),
  {
    name: 'CLICK_THROUGH_RATE',
    label: t('Click-through rate'),
    kind: 'percent',
    print: formatPercent,
    isGoodWhenMore: true,
  },
  {
    name: 'AD_SPEND_REVENUE',
    label: t('Spend'),
    kind: 'money',
    print: formatMoney,
    isGoodWhenMore: null,
    isMain: true,
  },
  { ...count('ORDERS', t('Orders')), isMain: true },
  count('UNITS_SOLD', t('Units sold')),
  {
    name: 'CONVERSION_VALUE',
    label: t('Value'),
    kind: 'money',
    print: formatMoney,
    isGoodWhenMore: true,
    isMain: true,
  },
  {
    name: 'RETURN_ON_AD_SPEND',
    label: t('Return on ad spend'),
    kind: 'ratio',
    print: formatRatio,
    isGoodWhenMore: true,
    isMain: true,
  },
]

const named = (name: string) => metrics.filter((one) => one.name === name)

/** The metrics that depend on the profile. */
export const comparedMetrics: readonly Metric[] = [
  ...named('CONVERSION_VALUE'),
  ...named('ORDERS'),
  ...named('UNITS_SOLD'),
  ...named('RETURN_ON_AD_SPEND'),
  {
    name: 'CONVERSION_RATE',
    label: t('Conversion rate'),
    kind: 'percent',
    print: formatPercent,
    isGoodWhenMore: true,
  },
]

/** More lines on one chart than two axes can tell apart are read as one another. */
/** The words of a value; amounts that were converted are marked. */
export function printShown(
  { kind, print }: Metric,
  value: Figure,
  { currency, isConverted }: ShownIn
): string {
  const printed = print(value, currency)
  return isConverted && kind === 'money' && printed !== nothing ? `≈ ${printed}` : printed
}

export const chosenMax = 2
const defaultNames = ['AD_SPEND_REVENUE', 'CONVERSION_VALUE']

/** The metrics of the chart, in the order in which they were chosen. */
export function chosenMetrics(text: string | null): readonly Metric[] {
  const names = [...new Set((text ?? '').split(','))]
  const known = names.flatMap(named).slice(0, chosenMax)
  return known.length > 0 ? known : defaultNames.flatMap(named)
}

/** The parameter after a press on a metric: one line always stays, and a third one takes the place of the second. */
export function chooseMetric(chosen: readonly Metric[], name: string): string {
  const names = chosen.map((one) => one.name)
  if (!names.includes(name)) return [...names.slice(0, chosenMax - 1), name].join(',')
  const others = names.filter((one) => one !== name)
  return (others.length > 0 ? others : names).join(',')
}

/** By the place among the lines: the same on a tile, its line and its axis. */
export const lineColors = ['series-1', 'series-3', 'series-4'] as const

/** The currencies of an answer, the one with the most impressions first, and what has no currency last. */
export function currenciesOf({ totals }: Pick<SeriesRows, 'totals'>): readonly string[] {
  const codes = totals
    .toSorted((one, other) => Number(other['IMPRESSIONS']) - Number(one['IMPRESSIONS']))
    .map((row) => row['CURRENCY'] ?? '')
  return unknownLast(codes)
}

export function totalOf({ totals }: SeriesRows, currency: string): Row | null {
  return totals.find((row) => row['CURRENCY'] === currency) ?? null
}

interface ShownIn {
  readonly currency: Figure
  /** Whether amounts of other currencies are in it. */
  readonly isConverted: boolean
}

interface Drawn extends ShownIn {
  readonly points: readonly ChartPoint[]
  readonly currency: string
}

/** A function from a point to the value that the answer has for it. */
function reader({ days, firstDay }: SeriesRows, { name, kind }: Metric, currency: string) {
  const rows = new Map(
    days.filter((row) => row['CURRENCY'] === currency).map((row) => [row['DATE'] ?? '', row])
  )
  const absent = { count: '0', money: formatAmount(0n, minorDigits(currency)) }
  return ({ start, endDate }: ChartPoint): Figure => {
    const row: Row | undefined = rows.get(start)
    if (row !== undefined) return row[name] ?? null
    // Before the first figures there was nothing to count, which is not 0; a ratio over 0 has no value.
    if (firstDay === null || endDate < firstDay) return null
    return kind === 'count' || kind === 'money' ? absent[kind] : null
  }
}

type OwnParts = Pick<ChartSeries, 'name' | 'label' | 'color' | 'values' | 'earlier'>

function lineOf(metric: Metric, drawn: Omit<Drawn, 'points'>, own: OwnParts): ChartSeries {
  const { kind, name, label } = metric
  const { currency } = drawn
  return {
    ...own,
    axis: label,
    unit: kind === 'money' ? currencySymbol(currency) : '',
    areCounts: kind === 'count',
    scale: kind === 'count' ? name : kind,
    print: (value) => printShown(metric, value, drawn),
    printAxis: kind === 'percent' ? formatShortPercent : formatShort,
  }
}

interface Earlier {
  readonly answer: SeriesRows
  readonly points: readonly ChartPoint[]
}

interface MetricLines extends Drawn {
  readonly chosen: readonly Metric[]
  readonly earlier: Earlier | null
}

export function seriesOfMetrics(
  answer: SeriesRows,
  { chosen, points, earlier, ...drawn }: MetricLines
): readonly ChartSeries[] {
  return chosen.map((one, place) =>
    lineOf(one, drawn, {
      name: one.name,
      label: one.label,
      color: lineColors[place] ?? lineColors[0],
      values: points.map(reader(answer, one, drawn.currency)),
      earlier:
        earlier === null ? null : earlier.points.map(reader(earlier.answer, one, drawn.currency)),
    })
  )
}

export type Comparison = Readonly<Record<AttributionProfile, SeriesRows>>

/** One metric under each profile. */
export function seriesOfProfiles(
  answers: Comparison,
  shown: Metric,
  { points, ...drawn }: Drawn
): readonly ChartSeries[] {
  return profiles.map((profile, place) =>
    lineOf(shown, drawn, {
      name: profile,
      label: profileNames[profile],
      color: lineColors[place] ?? lineColors[0],
      values: points.map(reader(answers[profile], shown, drawn.currency)),
      earlier: null,
    })
  )
}
