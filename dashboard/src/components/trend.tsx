import { useMemo, useState } from 'preact/hooks'
import type { JsonSeries } from '../../../src/contract/report-json.ts'
import { formatDay } from '../format.ts'
import {
  comparedMetrics,
  daysOf,
  defaultMetrics,
  metrics,
  seriesOfMetrics,
  seriesOfProfiles,
  totalOf,
  type Comparison,
} from '../metrics.ts'
import { profileNames, profiles, type View } from '../view.ts'
import { Figure } from './figure.tsx'
import { Table, type TableColumn } from './table.tsx'
import { TimeChart, type ChartSeries } from './time-chart.tsx'

type Change = (changes: Readonly<Record<string, string | null>>) => void

interface TrendProps {
  readonly answer: JsonSeries
  readonly view: View
  readonly currency: string
  readonly query: URLSearchParams
  readonly onChange: Change
}

/** The days of the period as lines, which ones by choice, and the same figures as a table. */
export function Trend({ answer, view, currency, query, onChange }: TrendProps) {
  const names = (query.get('chart') ?? defaultMetrics.join(',')).split(',')
  const chosen = metrics.filter(({ name }) => names.includes(name))
  const days = useMemo(() => daysOf(view), [view.startDate, view.endDate])
  const shownNames = chosen.map(({ name }) => name).join(',')
  const series = useMemo(
    () => seriesOfMetrics(answer, chosen, { days, currency }),
    [answer, shownNames, days, currency]
  )
  const toggle = (name: string) => {
    const next = metrics
      .map((metric) => metric.name)
      .filter((one) => (one === name) !== names.includes(one))
    // A chart without lines would be useless, so the last line stays.
    if (next.length > 0) onChange({ chart: next.join(',') })
  }
  return (
    <>
      <fieldset class="toggles">
        <legend class="unseen">Lines of the chart</legend>
        {metrics.map(({ name, label, color }) => (
          <label key={name}>
            <input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} />
            <span class={`swatch ${color}`} aria-hidden="true" />
            {label}
          </label>
        ))}
      </fieldset>
      <TimeChart
        label={`Chart of ${chosen.map(({ label }) => label).join(', ')} by day`}
        days={days}
        series={series}
        onUsePeriod={(from, to) => onChange({ from, to, page: null })}
      />
      <DaysTable days={days} series={series} />
    </>
  )
}

interface CompareProps extends Omit<TrendProps, 'answer'> {
  readonly answers: Comparison
}

/** One metric under each profile, and what each profile credits in all. */
export function CompareProfiles({ answers, view, currency, query, onChange }: CompareProps) {
  const [fallback] = comparedMetrics
  const metric = comparedMetrics.find(({ name }) => name === query.get('metric')) ?? fallback
  const days = useMemo(() => daysOf(view), [view.startDate, view.endDate])
  const series = useMemo(
    () => (metric === undefined ? [] : seriesOfProfiles(answers, metric, { days, currency })),
    [answers, metric, days, currency]
  )
  return (
    <>
      <label class="inline">
        <span>Compare</span>
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
        label={`Chart of ${metric?.label ?? ''} by day under each attribution profile`}
        days={days}
        series={series}
        onUsePeriod={(from, to) => onChange({ from, to, page: null })}
      />
      <ProfileTable answers={answers} currency={currency} />
      <DaysTable days={days} series={series} />
    </>
  )
}

function ProfileTable({ answers, currency }: Pick<CompareProps, 'answers' | 'currency'>) {
  const columns: readonly TableColumn<(typeof profiles)[number]>[] = [
    { name: 'profile', label: 'Attribution', cell: (profile) => profileNames[profile] },
    ...comparedMetrics.map(({ name, label, print }) => ({
      name,
      label,
      isFigure: true,
      cell: (profile: (typeof profiles)[number]) => {
        const value = totalOf(answers[profile], currency)?.[name]
        return <Figure exact={value} shown={print(value, currency)} />
      },
    })),
  ]
  return (
    <Table
      caption="What each attribution profile credits"
      columns={columns}
      rows={profiles}
      keyOf={(profile) => profile}
    />
  )
}

interface DaysTableProps {
  readonly days: readonly string[]
  readonly series: readonly ChartSeries[]
}

/** The chart as a table, for people who read it or use a screen reader. */
function DaysTable({ days, series }: DaysTableProps) {
  const [isOpen, setIsOpen] = useState(false)
  const rows = days.map((day, index) => ({ day, index }))
  return (
    <details class="as-table" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>The chart as a table</summary>
      {isOpen && (
        <Table
          caption="Figures by day"
          columns={[
            {
              name: 'DATE',
              label: 'Day',
              cell: ({ day }) => <time dateTime={day}>{formatDay(day)}</time>,
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
          keyOf={({ day }) => day}
        />
      )}
    </details>
  )
}
