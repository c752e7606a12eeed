// The rules of docs/alerts.yaml, for a node that looks at itself. A test compares names, bounds, times and
// severities. ShelftraceDown is missing: a node that is down cannot say so.
import { latencyBounds } from '../../http/request-counts.ts'
import { quantileOf, sumBuckets } from './quantile.ts'
import { reportBounds, type VitalSigns } from './vital-signs.ts'

export type Severity = 'page' | 'ticket'

/** The looks of the last hour, the latest one last. */
export interface Looks {
  readonly latest: VitalSigns
  /** Those of the last so many milliseconds. */
  readonly within: (ms: number) => readonly VitalSigns[]
  /** When the engine process of this node started, within the last hour. */
  readonly startsMs: readonly number[]
}

export interface Rule {
  readonly name: string
  readonly severity: Severity
  /** For how long it must be bad before it is told. */
  readonly forMs: number
  /** What is bad, in a sentence; null if nothing is. */
  readonly judge: (looks: Looks) => string | null
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

export interface RuleOptions {
  readonly spoolBytesMax: number
}

/** In the order of docs/alerts.yaml. */
export function rulesFor(options: RuleOptions): readonly Rule[] {
  return [...shippingRules(options), ...portRules, ...figureRules]
}

function shippingRules({ spoolBytesMax }: RuleOptions): readonly Rule[] {
  return [
    latest('ShelftraceSpoolLag', 'page', 5 * minute, ({ spoolLagMs }) =>
      spoolLagMs > 60 * second
        ? `The oldest waiting event is ${inWords(spoolLagMs)} old; reports are behind.`
        : null
    ),
    latest('ShelftraceSpoolFills', 'page', 5 * minute, ({ spoolBytes }) =>
      spoolBytes > spoolBytesMax / 2
        ? 'The spool has reached half of its bound; at the bound events are refused.'
        : null
    ),
    latest('ShelftraceStepFails', 'page', 5 * minute, ({ failingSteps }) =>
      failingSteps.length > 0
        ? `${failingSteps.length === 1 ? 'A step of the pipeline keeps' : 'Steps of the pipeline keep'} failing: ${failingSteps.join(', ')}.`
        : null
    ),
    {
      name: 'ShelftraceEngineRestarts',
      severity: 'page',
      forMs: 0,
      judge: ({ startsMs }) =>
        // One start is that of the process that looks. The others are of processes that died.
        startsMs.length - 1 > 3 ? 'The engine process keeps dying and being restarted.' : null,
    },
    latest('ShelftraceClockOffset', 'page', 5 * minute, ({ clockOffsetMs }) =>
      Math.abs(clockOffsetMs ?? 0) > 1 * second
        ? 'The clock of the node differs from that of the warehouse by more than a second.'
        : null
    ),
  ]
}

const portRules: readonly Rule[] = [
  latest('ShelftraceTrackerSilent', 'page', 2 * minute, ({ trackersAlive }) =>
    trackersAlive !== null && trackersAlive < 1
      ? 'No tracker of this node is alive; it takes no events.'
      : null
  ),
  latest('ShelftraceNodeSilent', 'page', 5 * minute, ({ silentNodes }) =>
    (silentNodes ?? 0) > 0
      ? 'A node is gone, events may wait in its spool, and no day is sealed without it for six hours.'
      : null
  ),
  {
    name: 'ShelftraceEventsRefused',
    severity: 'page',
    forMs: 5 * minute,
    judge: ({ within }) => {
      const reasons = sumsBy(within(5 * minute), ({ refused }) => refused)
      const bad = [...reasons].filter(([, count]) => count > 0).map(([reason]) => reason)
      return bad.length === 0
        ? null
        : `Events are answered with 503 (${bad.join(', ')}); senders must repeat them.`
    },
  },
  {
    name: 'ShelftraceRequestsInvalid',
    severity: 'ticket',
    forMs: 15 * minute,
    judge: ({ within }) => {
      const looks = within(15 * minute)
      const all = sumsBy(looks, ({ answers }) => mapValues(answers, (one) => one.all))
      const wrong = sumsBy(looks, ({ answers }) => mapValues(answers, (one) => one.wrong))
      const bad = [...wrong].filter(([route, count]) => count / (all.get(route) ?? 1) > 0.05)
      const routes = bad.map(([route]) => route).join(', ')
      return bad.length === 0
        ? null
        : `More than 5 % of the requests to ${routes} are refused as invalid.`
    },
  },
  {
    name: 'ShelftraceTrackingSlow',
    severity: 'page',
    forMs: 10 * minute,
    judge: ({ within }) => {
      const buckets = sumBuckets(within(5 * minute).map((look) => look.trackingSeconds))
      const slow = quantileOf(0.99, { buckets, bounds: latencyBounds })
      return slow !== null && slow > 0.25
        ? 'One in a hundred events waits longer than 250 ms for its answer.'
        : null
    },
  },
  {
    name: 'ShelftraceReportsSlow',
    severity: 'ticket',
    forMs: 15 * minute,
    judge: ({ within }) => {
      const buckets = sumBuckets(within(15 * minute).map((look) => look.reportSeconds))
      const slow = quantileOf(0.95, { buckets, bounds: reportBounds })
      return slow !== null && slow > 10 ? 'One in twenty reports takes longer than 10 s.' : null
    },
  },
]

const figureRules: readonly Rule[] = [
  latest('ShelftraceAttributionLag', 'page', 10 * minute, ({ attributionLagMs }) =>
    attributionLagMs > 300 * second
      ? `Purchases wait ${inWords(attributionLagMs)} to be attributed.`
      : null
  ),
  latest('ShelftraceDaysUnsealed', 'ticket', 1 * hour, ({ unsealedDays }) =>
    (unsealedDays ?? 0) > 2
      ? `${unsealedDays} days that are over are not sealed; their reports are slower and no events are dropped.`
      : null
  ),
  {
    name: 'ShelftraceSetAside',
    severity: 'ticket',
    forMs: 0,
    judge: ({ within }) =>
      within(1 * hour).some(({ setAside }) => setAside > 0)
        ? 'Events or purchases could not be processed and were set aside.'
        : null,
  },
  latest('ShelftraceNotBelieved', 'ticket', 15 * minute, ({ notBelieved }) =>
    notBelieved !== null && notBelieved.length > 0
      ? `Purchases or returns are not believed: ${notBelieved.join('; ')}.`
      : null
  ),
  latest('ShelftraceBackupOld', 'ticket', 0, ({ atMs, installedAtMs, lastBackupAtMs }) => {
    if (lastBackupAtMs === undefined) return null
    // A new installation has a day to make its first one.
    const fromMs = lastBackupAtMs ?? installedAtMs ?? atMs
    return atMs - fromMs > 93_600 * second
      ? 'There is no complete backup from the last 26 hours.'
      : null
  }),
]

// oxlint-disable-next-line max-params -- a table reads best with its columns in a row
function latest(
  name: string,
  severity: Severity,
  forMs: number,
  judge: (signs: VitalSigns) => string | null
): Rule {
  return { name, severity, forMs, judge: (looks) => judge(looks.latest) }
}

function sumsBy(
  looks: readonly VitalSigns[],
  read: (look: VitalSigns) => ReadonlyMap<string, number>
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const look of looks) {
    for (const [name, count] of read(look)) sums.set(name, (sums.get(name) ?? 0) + count)
  }
  return sums
}

function mapValues<From, To>(
  map: ReadonlyMap<string, From>,
  change: (value: From) => To
): ReadonlyMap<string, To> {
  return new Map([...map].map(([name, value]) => [name, change(value)]))
}

function inWords(ms: number): string {
  const minutes = Math.floor(ms / minute)
  if (minutes < 1) return `${Math.floor(ms / second)} s`
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
}
