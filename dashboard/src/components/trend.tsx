import { useMemo, useState } from 'preact/hooks'
import { baseOf } from '../bases.ts'
import type { SeriesRows } from '../series-rows.ts'
import { describePoint, pointsOf, type ChartPoint } from '../chart-points.ts'
import { formatList } from '../format.ts'
import {
  chosenMetrics,
  comparedMetrics,
  printShown,
  seriesOfMetrics,
  seriesOfProfiles,
  totalOf,
  type Comparison,
} from '../metrics.ts'
import { profileNames, profiles, type View } from '../view.ts'
import { Figure } from './figure.tsx'
import { Table, type TableColumn } from './table.tsx'
import { TimeChart, type ChartSeries } from './time-chart.tsx'
import { t } from '../language.ts'

type Change = (changes: Readonly<Record<string, string | null>>) => void

interface TrendProps {
  readonly answer: SeriesRows
  /** The days that the period is compared with; null if with none. */
  readonly earlier: SeriesRows | null
  readonly view: View
  readonly currency: string
  /** Whether amounts of other currencies are in it. */
  readonly isConverted: boolean
  /** The last day that is over in every market of the currency. */
  readonly lastWhole: string
  readonly query: URLSearchParams
  readonly onChange: Change
}

/** The chosen metrics as lines, and the same figures as a table. */
export function Trend(props: TrendProps) {
  const { answer, earlier, view, currency, isConverted, lastWhole, query, onChange } = props
  const chart = query.get('chart')
  const chosen = useMemo(() => chosenMetrics(chart), [chart])
  const points = usePoints(view, lastWhole)
  const series = useMemo(() => {
    const days = baseOf(view)
    const before = days === null ? [] : pointsOf({ ...days, interval: view.interval }, lastWhole)
    // Weeks and months that do not lie over each other cannot be compared point by point.
    const isComparable = view.interval === 'DAY' || before.length === points.length
    const shown = earlier !== null && isComparable ? { answer: earlier, points: before } : null
    return seriesOfMetrics(answer, { chosen, points, currency, isConverted, earlier: shown })
  }, [answer, earlier, chosen, points, currency, isConverted])
  const label = t('Chart of {{metrics}}', {
    metrics: formatList(chosen.map((one) => one.label)),
  })
  return (
    <>
      <TimeChart
        label={label}
        points={points}
        series={series}
        onUsePeriod={(from, to) => onChange({ from, to, period: null, page: null })}
      />
      <PointsTable points={points} series={series} />
    </>
  )
}

function usePoints(view: View, lastWhole: string): readonly ChartPoint[] {
  const { startDate, endDate, interval } = view
  return useMemo(() => pointsOf(view, lastWhole), [startDate, endDate, interval, lastWhole])
}

interface CompareProps extends Omit<TrendProps, 'answer' | 'earlier'> {
  readonly answers: Comparison
}

/** One metric under each profile, and what each profile credits in all. */
export function CompareProfiles(props: CompareProps) {
  const { answers, view, currency, isConverted, lastWhole, query, onChange } = props
  const [fallback] = comparedMetrics
  const metric = comparedMetrics.find(({ name }) => name === query.get('metric')) ?? fallback
  const points = usePoints(view, lastWhole)
  const series = useMemo(
    () =>
      metric === undefined
        ? []
        : seriesOfProfiles(answers, metric, { points, currency, isConverted }),
    [answers, metric, points, currency, isConverted]
  )
  return (
    <>
      <label class="inline">
        <span>{t('Compare')}</span>
        <select
          value={metric?.name}
          onChange={(event) => onChange({ metric: event.currentTarget.value })}
        >
          {comparedMetrics.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <TimeChart
        label={t('Chart of {{metric}} under each attribution profile', {
          metric: metric?.label ?? '',
        })}
        points={points}
        series={series}
        onUsePeriod={(from, to) => onChange({ from, to, period: null, page: null })}
      />
      <ProfileTable {...{ answers, currency, isConverted }} />
      <PointsTable points={points} series={series} />
    </>
  )
}

type ProfileTableProps = Pick<CompareProps, 'answers' | 'currency' | 'isConverted'>

function ProfileTable({ answers, ...shown }: ProfileTableProps) {
  const columns: readonly TableColumn<(typeof profiles)[number]>[] = [
    {
      name: 'profile',
      label: t('Attribution'),
      term: 'profile',
      cell: (profile) => profileNames[profile],
    },
    ...comparedMetrics.map((metric) => ({
      name: metric.name,
      label: metric.label,
      term: metric.name,
      isFigure: true,
      cell: (profile: (typeof profiles)[number]) => {
        const value = totalOf(answers[profile], shown.currency)?.[metric.name]
        return <Figure exact={value} shown={printShown(metric, value, shown)} />
      },
    })),
  ]
  return (
    <Table
      caption={t('What each attribution profile credits')}
      columns={columns}
      rows={profiles}
      keyOf={(profile) => profile}
    />
  )
}

interface PointsTableProps {
  readonly points: readonly ChartPoint[]
  readonly series: readonly ChartSeries[]
}

/** The chart as a table, for people who read it or use a screen reader. */
function PointsTable({ points, series }: PointsTableProps) {
  const [isOpen, setIsOpen] = useState(false)
  const rows = points.map((point, index) => ({ point, index }))
  return (
    <details class="as-table" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{t('The chart as a table')}</summary>
      {isOpen && (
        <Table
          caption={t('Figures of the chart')}
          columns={[
            {
              name: 'DATE',
              label: t('Days'),
              cell: ({ point }) => <time dateTime={point.start}>{describePoint(point)}</time>,
            },
            ...series.map(({ name, label, values, print }) => ({
              name,
              label,
              isFigure: true,
              cell: ({ index }: { readonly index: number }) => (
                <Figure exact={values[index]} shown={print(values[index])} />
              ),
            })),
          ]}
          rows={rows}
          keyOf={({ point }) => point.start}
        />
      )}
    </details>
  )
}
