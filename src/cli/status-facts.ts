// What the status says, in words, and whether it is out of the ordinary. The bounds are those of docs/alerts.yaml.
import type { StatusResponse } from '../contract/admin.ts'
import { counted, formatCount, formatDuration, formatSize } from './words.ts'

export interface Fact {
  readonly name: string
  readonly text: string
  /** Somebody should look at it. */
  readonly isOdd: boolean
}

const usual = { spoolLagMsMax: 60_000, attributionLagMsMax: 300_000, clockOffsetMsMax: 1_000 }
/** Of each market, and of events of unknown markets. */
const unsealedDaysMax = 2

/** The first few; the dashboard and --json have more. */
const shownMax = 5

export function factsOf(answer: StatusResponse): readonly Fact[] {
  const { warehouse, failing, version } = answer
  return [
    ...alertFacts(answer),
    fact('version', version),
    warehouse.available
      ? fact('warehouse', `${places[warehouse.kind]}, ClickHouse ${warehouse.version ?? 'unknown'}`)
      : odd('warehouse', 'does not answer; what only it knows is left out'),
    spoolFact(answer),
    ...attributionFacts(answer),
    ...daysFacts(answer),
    clockFact(answer),
    ...dataCentreFacts(answer),
    ...nodeFacts(answer),
    ...failing.map((step) => odd('fails', step)),
    ...believeEverybodyFacts(answer),
    ...(warehouse.available ? countFacts(answer) : []),
  ]
}

const places = { embedded: 'in process', server: 'a server' } as const

function fact(name: string, text: string): Fact {
  return { name, text, isOdd: false }
}

function odd(name: string, text: string): Fact {
  return { name, text, isOdd: true }
}

function alertFacts({ alerts = [] }: StatusResponse): readonly Fact[] {
  return alerts.map(({ name, since, summary }) =>
    odd(name.replace(/^Shelftrace/u, ''), `${summary} Since ${since}; see ${name} in the runbook`)
  )
}

function spoolFact({ spool, lagMs }: StatusResponse): Fact {
  if (spool.bytes === 0 && lagMs === 0)
    return fact('spool', 'empty: every event is in the warehouse')
  const text = `${formatSize(spool.bytes)} wait, the oldest for ${formatDuration(lagMs)}`
  return lagMs > usual.spoolLagMsMax
    ? odd('spool', `${text}: the warehouse is away, or too slow for what comes in`)
    : fact('spool', `${text}: usual, events are shipped within seconds`)
}

function attributionFacts({ attribution }: StatusResponse): readonly Fact[] {
  if (attribution === undefined) return []
  const { lagMs } = attribution
  if (lagMs === 0) return [fact('attribution', 'no purchase waits')]
  const text = `the oldest purchase has waited for ${formatDuration(lagMs)}`
  return lagMs > usual.attributionLagMsMax
    ? [odd('attribution', `${text}: it is too slow, or fails`)]
    : [fact('attribution', `${text}: usual, it takes seconds`)]
}

function daysFacts({ days, sealed = [] }: StatusResponse): readonly Fact[] {
  if (days === undefined) return []
  const { unsealed, renewing } = days
  const isMany = unsealed > unsealedDaysMax * (sealed.length + 1)
  return [
    ...(unsealed === 0
      ? []
      : [
          {
            name: 'days to seal',
            text: `${counted(unsealed, 'day')}; ${isMany ? 'more than usual, unless events were loaded' : 'usual after midnight'}. Reports have them`,
            isOdd: isMany,
          },
        ]),
    fact(
      'days to renew',
      renewing === 0
        ? 'none: sealed days have all their events'
        : `${counted(renewing, 'sealed day')} to seal again: usual after late or loaded events, takes minutes`
    ),
  ]
}

function clockFact({ clock: { offsetMs } }: StatusResponse): Fact {
  if (offsetMs === null) return fact('clock', 'not compared with the warehouse yet')
  if (offsetMs === 0) return fact('clock', "the same as the warehouse's")
  const side = offsetMs < 0 ? 'behind' : 'ahead of'
  const text = `${formatDuration(Math.abs(offsetMs))} ${side} the warehouse's`
  return Math.abs(offsetMs) > usual.clockOffsetMsMax
    ? odd('clock', `${text}: synchronise both (NTP)`)
    : fact('clock', text)
}

function dataCentreFacts({ dataCentres }: StatusResponse): readonly Fact[] {
  if (dataCentres === undefined) return []
  const { version, ranges, faults } = dataCentres
  const list = version === null ? 'no list yet' : `list ${version} of ${counted(ranges, 'network')}`
  return [fact('data centres', list), ...faults.map((fault) => odd('not taken', fault))]
}

/** Nodes that are gone are told, since their spools may hold events; a node alone is not worth a line. */
function nodeFacts({ nodes = [], at }: StatusResponse): readonly Fact[] {
  const living = nodes.filter(({ state }) => state === 'living')
  const gone = nodes.filter(({ state }) => state !== 'living')
  const nowMs = at === undefined ? Date.now() : Date.parse(at)
  const shown = gone.slice(0, shownMax).map(({ id, name, state, seenAt, waitingBytes }) => {
    const waits = waitingBytes === 0 ? 'events may wait' : `${formatSize(waitingBytes)} waited`
    const until =
      state === 'silent'
        ? 'sealing waits for it; start it again'
        : 'sealing goes on without it; its events restate days'
    return odd(
      `node ${state}`,
      `${name} (${id}), not seen for ${formatDuration(Math.max(0, nowMs - Date.parse(seenAt)))}: ${waits} in its spool, ${until}`
    )
  })
  const more = gone.length - shown.length
  return [
    ...(nodes.length < 2 ? [] : [fact('nodes', livingText(living))]),
    ...shown,
    ...(more > 0 ? [odd('nodes', `${formatCount(more)} more are gone; see --json`)] : []),
  ]
}

function livingText(living: NonNullable<StatusResponse['nodes']>): string {
  const withRole = (role: string) => living.filter(({ roles }) => roles.includes(role)).length
  return `${counted(withRole('tracker'), 'node')} with trackers, ${formatCount(withRole('engine'))} with an engine`
}

function countFacts(answer: StatusResponse): readonly Fact[] {
  const { sealed = [], uncounted = {}, conflicts = 0, setAside = 0, contradictions = [] } = answer
  return [
    conflicts === 0
      ? fact('conflicts', 'none in 30 days')
      : fact(
          'conflicts',
          `${formatCount(conflicts)} in 30 days: repeats that differ; see "shelftrace conflicts"`
        ),
    setAside === 0
      ? fact('set aside', 'nothing')
      : odd(
          'set aside',
          `${counted(setAside, 'record')} could not be shipped; see "shelftrace set-aside list"`
        ),
    ...contradictions.map(({ publisherId, rule, count, lastSetAsideAt }) =>
      odd(
        `publisher ${publisherId}`,
        `${counted(count, 'event')} set aside: ${rule}, last at ${lastSetAsideAt}`
      )
    ),
    ...identityFacts(answer),
    ...notBelievedFacts(answer),
    ...retentionFacts(answer),
    ...sealed.map(({ marketId, market = marketId, completeThrough }) =>
      fact(`market ${market}`, `sealed through ${completeThrough ?? 'no day yet'}`)
    ),
    ...Object.entries(uncounted).map(([reason, count]) =>
      fact(`not counted: ${reason}`, `${formatCount(count)} in 30 days`)
    ),
  ]
}

/** Shown only where there are any: the words need an explanation. */
function identityFacts({ crowds = 0, misplaced = 0 }: StatusResponse): readonly Fact[] {
  return [
    ...(crowds === 0
      ? []
      : [
          odd(
            'crowds',
            `${counted(crowds, 'id')} of shoppers ${crowds === 1 ? 'is' : 'are'} used by many people, and join nothing: too many touchpoints for one person in 15 days`
          ),
        ]),
    ...(misplaced === 0
      ? []
      : [
          odd(
            'misplaced',
            `${counted(misplaced, 'counted event')} of 7 days: the campaign belongs to another advertiser by now`
          ),
        ]),
  ]
}

function believeEverybodyFacts({ believeEverybody }: StatusResponse): readonly Fact[] {
  if (believeEverybody === undefined || believeEverybody.total === 0) return []
  const { publishers, total } = believeEverybody
  const shown = publishers.slice(0, shownMax).map(({ id, name }) => `${id} ${name}`)
  const more = total > shown.length ? `, and ${formatCount(total - shown.length)} more` : ''
  return [
    odd(
      'believe everybody',
      `publishers without key and source list: ${shown.join(', ')}${more}; anybody can report their purchases`
    ),
  ]
}

function notBelievedFacts({ notBelieved }: StatusResponse): readonly Fact[] {
  if (notBelieved === undefined) return []
  const { groups, total } = notBelieved
  const shown = groups.slice(0, shownMax).map((group) => {
    const { publisherId, kind, reason, deliveries, values } = group
    const worth = values.map(({ value, currency }) => `, ${value} ${currency}`).join('')
    const span = `${group.firstReceivedAt} to ${group.lastReceivedAt}`
    const text = `publisher ${publisherId}, ${reason}: ${counted(deliveries, kind)}${worth}, ${span}`
    return odd('not believed', text)
  })
  const left = total - shown.length
  return left > 0 ? [...shown, odd('not believed', `${formatCount(left)} more; see --json`)] : shown
}

function retentionFacts({ retention }: StatusResponse): readonly Fact[] {
  if (retention === undefined) return []
  const { days, finalBefore, waitsForDay } = retention
  const final = finalBefore === null ? '' : `, days before ${finalBefore} are final`
  const waiting = waitsForDay === null ? '' : `, waits for ${waitsForDay} to be sealed`
  return [fact('retention', `${counted(days, 'day')}${final}${waiting}`)]
}
