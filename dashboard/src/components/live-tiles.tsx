// The tiles of the Live page: what flows, and what should be few.
import type { ComponentChildren } from 'preact'
import { formatBytes, formatCount, formatDuration, formatNumber, nothing } from '../format.ts'
import type { Gauges } from '../gauges.ts'
import { phrase, t } from '../language.ts'
import { listAddress } from '../router.ts'
import { ratesOf, type Sample } from '../samples.ts'
import { useSession } from '../session.ts'
import { Figure } from './figure.tsx'
import { Sparkline } from './sparkline.tsx'
import { Term } from './term.tsx'

/** A day is sealed once it is over everywhere and settled. More unsealed days mean that sealing is behind. */
const unsealedDaysMax = 2

/** As in the alert about backups: a daily one, and two hours for it. */
const backupAgeMsMax = 26 * 3_600_000
const command = <code>shelftrace backup</code>

interface LiveTilesProps {
  readonly samples: readonly Sample[]
  readonly latest: Sample
}

export function LiveTiles({ samples, latest }: LiveTilesProps) {
  const { status, gauges } = latest
  const rates = ratesOf(samples)
  return (
    <dl class="tiles by-six" aria-label={t('State of the pipeline')}>
      <LiveTile label={t('Events per second')} trend={rates}>
        {rates.length === 0 ? '…' : formatNumber(rates.at(-1) ?? 0, 1)}
      </LiveTile>
      <LiveTile
        label={t('Waiting in the spool')}
        term="spool"
        trend={samples.map((one) => one.status.spool.bytes)}
      >
        {formatBytes(status.spool.bytes)}
      </LiveTile>
      <LiveTile label={t('Age of the oldest event')} trend={samples.map((one) => one.status.lagMs)}>
        {formatDuration(status.lagMs)}
      </LiveTile>
      <LiveTile label={t('Purchases attributed since the start')}>
        {formatNumber(gauges.get('shelftrace_attributed_purchases') ?? 0)}
      </LiveTile>
      <LiveTile label={t('Events shipped since the start')}>
        {formatNumber(gauges.get('shelftrace_shipped_events') ?? 0)}
      </LiveTile>
      <LiveTile
        label={t('Failed steps since the start')}
        isBad={(gauges.get('shelftrace_pipeline_failures') ?? 0) > 0}
      >
        {formatNumber(gauges.get('shelftrace_pipeline_failures') ?? 0)}
      </LiveTile>
      <LiveTile
        label={t('Purchases wait for attribution')}
        term="attribution"
        trend={samples.map((one) => lagMsOf(one.gauges) ?? 0)}
      >
        {durationOrNothing(lagMsOf(gauges))}
      </LiveTile>
      <Counts {...latest} />
    </dl>
  )
}

/** The tiles of what should be few. */
function Counts({ status, gauges }: Sample) {
  return (
    <>
      <CountTile
        label={t('Days not sealed')}
        term="sealed-day"
        count={gauges.get('shelftrace_unsealed_days')}
        usualMax={unsealedDaysMax}
      />
      <CountTile
        label={t('Events refused since the start')}
        count={gauges.get('shelftrace_tracking_answers_total{status="503"}') ?? 0}
      />
      <CountTile
        label={t('Set aside')}
        term="set-aside"
        count={status.setAside}
        leadsTo={listAddress('set-aside')}
      />
      <BackupTile {...{ status, gauges }} />
      <CountTile
        label={t('Conflicting purchases, 30 days')}
        term="conflict"
        count={status.conflicts}
        leadsTo={listAddress('conflicts')}
      />
    </>
  )
}

interface CountTileProps {
  readonly label: string
  readonly term?: string
  /** Absent while the warehouse does not answer. */
  readonly count: number | undefined
  /** The greatest value that is not alarming; 0 if absent. */
  readonly usualMax?: number
  /** At least as many: there are more that were not counted. */
  readonly isMore?: boolean
  /** Where the counted can be seen. */
  readonly leadsTo?: string
  readonly onFollow?: () => void
}

export function CountTile(props: CountTileProps) {
  const { label, term, count, usualMax = 0, isMore = false, leadsTo, onFollow } = props
  const exact = count === undefined ? null : String(count)
  const isBad = count !== undefined && count > usualMax
  const figure = <Figure exact={exact} shown={`${formatCount(exact)}${isMore ? '+' : ''}`} />
  return (
    <LiveTile label={label} term={term} isBad={isBad}>
      {isBad && leadsTo !== undefined ? (
        <a href={leadsTo} onClick={onFollow}>
          {figure}
        </a>
      ) : (
        figure
      )}
    </LiveTile>
  )
}

/** Amber at once, while the alert waits until there would have been time for one. */
function BackupTile({ status, gauges }: Pick<Sample, 'status' | 'gauges'>) {
  const { clock } = useSession().api
  const ageMs = backupAgeMsOf(gauges, clock.now().getTime())
  // A node with a ClickHouse server knows nothing about its backups.
  const isExpected = status.warehouse.kind === 'embedded'
  const isMissing = isExpected && (ageMs ?? Infinity) > backupAgeMsMax
  return (
    <LiveTile
      label={t('Age of the newest backup')}
      term="backup"
      isOdd={isMissing}
      note={isMissing ? phrase('Make one with {{command}}, once a day.', { command }) : null}
    >
      {isMissing && ageMs === undefined ? t('no backup') : durationOrNothing(ageMs)}
    </LiveTile>
  )
}

/** For how long the oldest purchase that is due has waited; absent where the metrics lack it. */
function lagMsOf(gauges: Gauges): number | undefined {
  const seconds = gauges.get('shelftrace_attribution_lag_seconds')
  return seconds === undefined ? undefined : seconds * 1_000
}

/** Absent if there is no backup, or if the warehouse is a server. */
function backupAgeMsOf(gauges: Gauges, nowMs: number): number | undefined {
  const takenAtSeconds = gauges.get('shelftrace_last_backup_timestamp_seconds')
  return takenAtSeconds === undefined ? undefined : Math.max(0, nowMs - takenAtSeconds * 1_000)
}

function durationOrNothing(ms: number | undefined): string {
  return ms === undefined ? nothing : formatDuration(ms)
}

interface LiveTileProps {
  readonly label: string
  readonly term?: string | undefined
  readonly trend?: readonly number[]
  readonly isBad?: boolean
  /** Not bad yet, but somebody should act. */
  readonly isOdd?: boolean
  /** What to do. */
  readonly note?: ComponentChildren
  readonly children: ComponentChildren
}

function LiveTile(props: LiveTileProps) {
  const { label, term, trend, isBad = false, isOdd = false, note, children } = props
  return (
    <div class={isOdd ? 'tile odd' : 'tile'}>
      <dt>{term === undefined ? label : <Term term={term}>{label}</Term>}</dt>
      <dd>
        <span class={isBad ? 'value problem' : 'value'}>{children}</span>
        {trend !== undefined && <Sparkline values={trend} />}
        {note !== undefined && note !== null && <span class="note">{note}</span>}
      </dd>
    </div>
  )
}
