import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { StatusResponse } from '../../../../src/contract/admin.ts'
import type { StatusHistory } from '../../../../src/contract/watch.ts'
import { FirstSteps } from '../../components/first-steps.tsx'
import { Figure } from '../../components/figure.tsx'
import { LastDay } from '../../components/last-day.tsx'
import { Empty, Failure, Loading, Warning } from '../../components/notices.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { Term } from '../../components/term.tsx'
import { Table } from '../../components/table.tsx'
import { silenceMsMax, Verdict } from '../../components/verdict.tsx'
import {
  formatBytes,
  formatCount,
  formatDay,
  formatDuration,
  formatNumber,
  nothing,
} from '../../format.ts'
import { messagesOf } from '../../loaded.ts'
import { addressOf } from '../../router.ts'
import { useSession } from '../../session.ts'
import { readGauges, type Gauges } from '../../gauges.ts'
import { phrase, t } from '../../language.ts'

const pollMs = 3_000
/** The status itself gives up on a warehouse that hangs after 10 s. */
const answerMsMax = 15_000
const historyPauseMs = 60_000
/** Five minutes of samples. */
const samplesMax = 100
/** A day is sealed once it is over everywhere and settled. More unsealed days mean that sealing is behind. */
const unsealedDaysMax = 2

/** As in the alert about backups: a daily one, and two hours for it. */
const backupAgeMsMax = 26 * 3_600_000
const command = <code>shelftrace backup</code>

const toLookAt = addressOf(['operator', 'to-look-at'])

interface Sample {
  readonly atMs: number
  readonly status: StatusResponse
  readonly gauges: Gauges
}

/** The state of the pipeline, refreshed every few seconds while the page is visible. */
export function Live() {
  const { samples, messages } = useSamples()
  const history = useHistory()
  const latest = samples.at(-1)
  const silenceMs = useSilence(latest)
  return (
    <>
      <div class="head">
        <h1>{t('Live')}</h1>
      </div>
      {latest !== undefined && (
        <Verdict alerts={latest.status.alerts ?? null} silenceMs={silenceMs} />
      )}
      {messages.length > 0 && <Failure messages={messages} />}
      {latest === undefined ? (
        messages.length === 0 && <Loading what={t('the state of the pipeline')} />
      ) : (
        <div class={silenceMs > silenceMsMax ? 'stack silent' : 'stack'}>
          {isNew(latest, history) && (
            <FirstSteps hasCatalog={(latest.status.sealed ?? []).length > 0} />
          )}
          <State samples={samples} latest={latest}>
            {history !== null && <LastDay history={history} />}
          </State>
        </div>
      )}
    </>
  )
}

/** No event has ever come. While the warehouse is away nobody knows. */
function isNew({ status, gauges }: Sample, history: StatusHistory | null): boolean {
  if (!status.warehouse.available || history === null) return false
  const hasSealed = (status.sealed ?? []).some(({ completeThrough }) => completeThrough !== null)
  const hasShipped = (gauges.get('shelftrace_shipped_events') ?? 0) > 0
  return !hasSealed && !hasShipped && history.points.every(({ shipped }) => shipped === 0)
}

/** For how long nothing has been heard, to the second. */
function useSilence(latest: Sample | undefined): number {
  const [nowMs, setNowMs] = useState(performance.now())
  useEffect(() => {
    const timer = window.setInterval(() => setNowMs(performance.now()), 1_000)
    return () => window.clearInterval(timer)
  }, [])
  return latest === undefined ? 0 : Math.max(0, nowMs - latest.atMs)
}

/** The last day changes once a minute. */
function useHistory(): StatusHistory | null {
  const { api } = useSession()
  const [history, setHistory] = useState<StatusHistory | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const ask = () => {
      if (document.hidden) return
      api
        .get<StatusHistory>('admin/v1/status/history', abort.signal)
        .then(setHistory)
        // The verdict tells that the service does not answer.
        .catch(() => undefined)
    }
    ask()
    const timer = window.setInterval(ask, historyPauseMs)
    return () => {
      abort.abort()
      window.clearInterval(timer)
    }
  }, [api])
  return history
}

function useSamples() {
  const { api } = useSession()
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [messages, setMessages] = useState<readonly string[]>([])
  useEffect(() => {
    const abort = new AbortController()
    let timer = 0
    const ask = async () => {
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(answerMsMax)])
      const status = await api.get<StatusResponse>('admin/v1/status', signal)
      const { text } = await api.text({ method: 'GET', path: 'metrics', signal })
      const sample = { atMs: performance.now(), status, gauges: readGauges(text) }
      setSamples((known) => [...known, sample].slice(-samplesMax))
      setMessages([])
    }
    const poll = () => {
      // A hidden tab need not refresh.
      const turn = document.hidden ? Promise.resolve() : ask()
      turn
        .catch((error: unknown) => {
          if (!abort.signal.aborted) setMessages(messagesOf(error))
        })
        .finally(() => {
          if (!abort.signal.aborted) timer = window.setTimeout(poll, pollMs)
        })
    }
    poll()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [api])
  return { samples, messages }
}

interface StateProps {
  readonly samples: readonly Sample[]
  readonly latest: Sample
  /** Below the tiles. */
  readonly children: ComponentChildren
}

function State({ samples, latest, children }: StateProps) {
  const { status, gauges } = latest
  const rates = ratesOf(samples)
  return (
    <>
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
        <LiveTile
          label={t('Age of the oldest event')}
          trend={samples.map((one) => one.status.lagMs)}
        >
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
      {!status.warehouse.available && (
        <Warning>{t('The warehouse does not answer; what only it knows is missing here.')}</Warning>
      )}
      {status.failing.length > 0 && (
        <Failure messages={status.failing.map((step) => t('Failing: {{step}}', { step }))} />
      )}
      {children}
      {status.sealed !== undefined && <Sealed sealed={status.sealed} />}
      <Footnote status={status} />
    </>
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
        leadsTo={toLookAt}
      />
      <BackupTile {...{ status, gauges }} />
      <CountTile
        label={t('Conflicting purchases, 30 days')}
        term="conflict"
        count={status.conflicts}
        leadsTo={toLookAt}
      />
    </>
  )
}

function Footnote({ status }: { readonly status: StatusResponse }) {
  return (
    <p class="footnote">
      {t(
        'Shelftrace {{version}}, warehouse {{kind}} {{warehouseVersion}}. Clock against the warehouse: {{offset}}.',
        {
          version: status.version,
          kind: status.warehouse.kind,
          warehouseVersion: status.warehouse.version ?? '',
          offset:
            status.clock.offsetMs === null
              ? t('not known')
              : formatDuration(Math.abs(status.clock.offsetMs)),
        }
      )}
    </p>
  )
}

function Sealed({ sealed }: { readonly sealed: NonNullable<StatusResponse['sealed']> }) {
  return (
    <section class="card" aria-label={t('Sealed days')}>
      <h2>{t('Sealed days')}</h2>
      {sealed.length === 0 ? (
        <Empty>{t('The catalog has no market yet.')}</Empty>
      ) : (
        <Table
          caption={t('How far each market is sealed')}
          columns={[
            {
              name: 'market',
              label: t('Market'),
              cell: (row) => row.market ?? String(row.marketId),
            },
            {
              name: 'through',
              label: t('Sealed through'),
              term: 'sealed-day',
              cell: (row) => formatDay(row.completeThrough),
            },
          ]}
          rows={sealed}
          keyOf={(row) => String(row.marketId)}
        />
      )}
    </section>
  )
}

interface CountTileProps {
  readonly label: string
  readonly term?: string
  /** Absent while the warehouse does not answer. */
  readonly count: number | undefined
  /** The greatest value that is not alarming; 0 if absent. */
  readonly usualMax?: number
  /** Where the counted can be seen. */
  readonly leadsTo?: string
}

function CountTile({ label, term, count, usualMax = 0, leadsTo }: CountTileProps) {
  const exact = count === undefined ? null : String(count)
  const isBad = count !== undefined && count > usualMax
  const figure = <Figure exact={exact} shown={formatCount(exact)} />
  return (
    <LiveTile label={label} term={term} isBad={isBad}>
      {isBad && leadsTo !== undefined ? <a href={leadsTo}>{figure}</a> : figure}
    </LiveTile>
  )
}

/** Amber at once, while the alert waits until there would have been time for one. */
function BackupTile({ status, gauges }: Pick<Sample, 'status' | 'gauges'>) {
  const ageMs = backupAgeMsOf(gauges)
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
function backupAgeMsOf(gauges: Gauges): number | undefined {
  const takenAtSeconds = gauges.get('shelftrace_last_backup_timestamp_seconds')
  return takenAtSeconds === undefined ? undefined : Math.max(0, Date.now() - takenAtSeconds * 1_000)
}

function durationOrNothing(ms: number | undefined): string {
  return ms === undefined ? nothing : formatDuration(ms)
}

/** The increase between samples. A counter that fell has restarted with its process. */
function ratesOf(samples: readonly Sample[]): readonly number[] {
  const shipped = (sample: Sample) => sample.gauges.get('shelftrace_shipped_events') ?? 0
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample
    const seconds = (sample.atMs - before.atMs) / 1_000
    return seconds <= 0 ? 0 : Math.max(0, shipped(sample) - shipped(before)) / seconds
  })
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
