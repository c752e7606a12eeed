import type { ComponentChildren } from 'preact'
import type { StatusResponse } from '../../../../src/contract/admin.ts'
import type { StatusHistory } from '../../../../src/contract/watch.ts'
import { FirstSteps } from '../../components/first-steps.tsx'
import { LastDay } from '../../components/last-day.tsx'
import { LiveTiles } from '../../components/live-tiles.tsx'
import { Empty, Failure, Loading, Warning } from '../../components/notices.tsx'
import { Table } from '../../components/table.tsx'
import { silenceMsMax, Verdict } from '../../components/verdict.tsx'
import { formatDay, formatDuration } from '../../format.ts'
import { t } from '../../language.ts'
import { useHistory, useSamples, useSilence, type Sample } from '../../samples.ts'

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

interface StateProps {
  readonly samples: readonly Sample[]
  readonly latest: Sample
  /** Below the tiles. */
  readonly children: ComponentChildren
}

function State({ samples, latest, children }: StateProps) {
  const { status } = latest
  return (
    <>
      <LiveTiles {...{ samples, latest }} />
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
