import type { PastAlert, StatusHistory, VitalPoint } from '../../../src/contract/watch.ts'
import { formatBytes, formatDuration, formatInstant, formatNumber, nothing } from '../format.ts'
import { Sparkline } from './sparkline.tsx'
import { Table } from './table.tsx'
import { t } from '../language.ts'

interface Course {
  readonly label: string
  /** Null where there was nothing to measure. */
  readonly read: (point: VitalPoint) => number | null
  readonly show: (value: number) => string
}

const courses: readonly Course[] = [
  {
    label: t('Events shipped a second'),
    read: ({ shipped }) => shipped / 60,
    show: (value) => formatNumber(value, 1),
  },
  { label: t('Waiting in the spool'), read: ({ waitingBytes }) => waitingBytes, show: formatBytes },
  {
    label: t('Age of the oldest event'),
    read: ({ lagMs }) => lagMs,
    show: formatDuration,
  },
  {
    label: t('Purchases wait for attribution'),
    read: ({ attributionLagMs }) => attributionLagMs,
    show: formatDuration,
  },
  {
    label: t('Reports, 95 % faster than'),
    read: ({ reportP95Ms }) => reportP95Ms,
    show: formatDuration,
  },
]

/** What this node was like in the last 24 hours, and what was wrong and is over. */
export function LastDay({ history }: { readonly history: StatusHistory }) {
  const { points, ended } = history
  const [first] = points
  return (
    <section class="card" aria-label={t('Last 24 hours')}>
      <h2>{t('Last 24 hours')}</h2>
      {first === undefined ? (
        <p class="muted">{t('The first minute is not over yet.')}</p>
      ) : (
        <>
          <dl class="tiles by-five">
            {courses.map((course) => (
              <CourseTile key={course.label} course={course} points={points} />
            ))}
          </dl>
          <p class="footnote">
            {t('This node, minute by minute since {{time}}.', { time: formatInstant(first.at) })}
          </p>
        </>
      )}
      {ended.length > 0 && <Ended ended={ended} />}
    </section>
  )
}

interface CourseTileProps {
  readonly course: Course
  readonly points: readonly VitalPoint[]
}

function CourseTile({ course: { label, read, show }, points }: CourseTileProps) {
  const values = points.map(read).filter((value) => value !== null)
  return (
    <div class="tile">
      <dt>{label}</dt>
      <dd>
        <span class="value">{values.length === 0 ? nothing : show(Math.max(...values))}</span>
        <span class="change">{t('at most')}</span>
        <Sparkline values={values} />
      </dd>
    </div>
  )
}

function Ended({ ended }: { readonly ended: readonly PastAlert[] }) {
  return (
    <Table
      caption={t('What was wrong and is over')}
      columns={[
        { name: 'name', label: t('Alert'), cell: ({ name }) => name.replace(/^Shelftrace/u, '') },
        { name: 'since', label: t('From'), cell: ({ since }) => formatInstant(since) },
        { name: 'until', label: t('Until'), cell: ({ until }) => formatInstant(until) },
      ]}
      rows={ended}
      keyOf={({ name, since }) => `${name} ${since}`}
    />
  )
}
