import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerWith, run, useCliServer } from './harness.ts'

useCliServer()

test('status is told for people, and as it came with --json', async () => {
  const status = {
    version: '1.0.0',
    warehouse: { kind: 'embedded', available: true, version: '26.7' },
    spool: { bytes: 400 },
    lagMs: 12,
    clock: { offsetMs: -1_200 },
    failing: ['ship fails: WAREHOUSE_REFUSED'],
    sealed: [{ marketId: 1, completeThrough: '2026-03-01' }],
    uncounted: { bot: 2 },
    conflicts: 1,
    setAside: 0,
    crowds: 3,
    misplaced: 4,
    retention: { days: 400, finalBefore: '2025-04-01', waitsForDay: '2025-04-01' },
  }
  answerWith(200, status)

  const text = await run(['status'])
  const json = await run(['status', '--json'])

  assert.match(text.stdout, /market 1 +sealed through 2026-03-01/)
  assert.match(text.stdout, /not counted: bot +2 in 30 days/)
  assert.match(text.stdout, /^! crowds +3 ids of shoppers are used by many people/mu)
  assert.match(
    text.stdout,
    /^! misplaced +4 counted events of 7 days: the campaign belongs to another/mu
  )
  assert.match(
    text.stdout,
    /retention +400 days, days before 2025-04-01 are final, waits for 2025-04-01 to be sealed/
  )
  assert.match(text.stdout, /^! clock +1\.2 s behind the warehouse's: synchronise both/mu)
  assert.match(text.stdout, /^! fails +ship fails: WAREHOUSE_REFUSED/mu)
  assert.deepEqual(JSON.parse(json.stdout), status)
})

test('status names the first publishers that believe everybody, and the largest groups that are not believed', async () => {
  const firstReceivedAt = '2026-03-01T09:00:00.000Z'
  const lastReceivedAt = '2026-03-01T10:00:00.000Z'
  const group = (publisherId: number) => ({
    publisherId,
    kind: 'conversion',
    reason: 'unauthenticated',
    deliveries: 12,
    values: [
      { currency: 'EUR', value: '10.50' },
      { currency: 'JPY', value: '5' },
    ],
    firstReceivedAt,
    lastReceivedAt,
  })
  const ids = [1, 2, 3, 4, 5, 6, 7]
  const open = ids.map((id) => ({ id, name: `Shop ${id}` }))
  answerWith(200, {
    version: '1.0.0',
    warehouse: { kind: 'embedded', available: true, version: '26.7' },
    spool: { bytes: 0 },
    lagMs: 0,
    clock: { offsetMs: 0 },
    failing: [],
    believeEverybody: { publishers: open, total: 1_000 },
    notBelieved: { groups: ids.map(group), total: 30 },
  })

  const { stdout } = await run(['status'])

  const shops = 'Shop 1, 2 Shop 2, 3 Shop 3, 4 Shop 4, 5 Shop 5, and 995 more'
  assert.match(
    stdout,
    new RegExp(
      `believe everybody +publishers without key and source list: 1 ${shops}; anybody can report`
    )
  )
  const span = `${firstReceivedAt} to ${lastReceivedAt}`
  assert.match(
    stdout,
    new RegExp(
      `not believed +publisher 5, unauthenticated: 12 conversions, 10.50 EUR, 5 JPY, ${span}\\n`
    )
  )
  assert.doesNotMatch(stdout, /publisher 6/)
  assert.match(stdout, /not believed +25 more; see --json\n/)
})

test('status while the warehouse is away tells what the node knows by itself', async () => {
  answerWith(200, {
    version: '1.0.0',
    warehouse: { kind: 'server', available: false },
    spool: { bytes: 400 },
    lagMs: 12,
    clock: { offsetMs: null },
    failing: [],
  })

  const { exitCode, stdout } = await run(['status'])

  assert.equal(exitCode, 0)
  assert.match(stdout, /^! warehouse +does not answer/mu)
  assert.match(stdout, /spool +400 bytes wait, the oldest for 12 ms: usual/)
  assert.match(stdout, /clock +not compared with the warehouse yet/)
  assert.doesNotMatch(stdout, /set aside/)
})

const calm = {
  version: '1.0.0',
  at: '2026-03-01T00:00:00.000Z',
  warehouse: { kind: 'embedded', available: true, version: '26.7' },
  spool: { bytes: 0 },
  lagMs: 0,
  attribution: { lagMs: 0, settledThrough: null },
  days: { unsealed: 0, renewing: 0 },
  clock: { offsetMs: 3 },
  failing: [],
  sealed: [{ marketId: 1, completeThrough: '2026-02-28' }],
  conflicts: 0,
  setAside: 0,
  crowds: 0,
  misplaced: 0,
}

const aNode = (state: string, roles: readonly string[]) => ({
  id: '00ff00ff00ff00ff',
  name: 'machine',
  roles,
  state,
  isThis: false,
  seenAt: '2026-02-28T23:58:30.000Z',
  shippedThrough: '2026-02-28T23:58:00.000Z',
  waitingBytes: 2_000_000,
})

test('a status in which all is as usual says so first, and has no mark and no word that needs explaining', async () => {
  answerWith(200, { ...calm, nodes: [aNode('living', ['tracker', 'engine'])] })

  const { stdout } = await run(['status'])

  assert.match(stdout, /^All is as it should be\.\n/u)
  assert.doesNotMatch(stdout, /^!|crowd|misplaced|nodes/mu)
})

test('what waits is told with whether that is usual', async () => {
  const cases = [
    [
      { spool: { bytes: 24_457_431 }, lagMs: 5_977 },
      /^ {2}spool +24\.5 MB wait, the oldest for 6 s: usual/mu,
    ],
    [
      { spool: { bytes: 1 }, lagMs: 90_000 },
      /^! spool +1 byte wait.*1 min 30 s: the warehouse is away/mu,
    ],
    [{ attribution: { lagMs: 4_000, settledThrough: null } }, /^ {2}attribution +.* 4 s: usual/mu],
    [
      { attribution: { lagMs: 400_000, settledThrough: null } },
      /^! attribution +.*too slow, or fails/mu,
    ],
    [
      { days: { unsealed: 0, renewing: 3 } },
      /^ {2}days to renew +3 sealed days to seal again: usual/mu,
    ],
    [
      { nodes: [aNode('living', ['tracker']), aNode('living', ['tracker', 'engine'])] },
      /^ {2}nodes +2 nodes with trackers, 1 with an engine/mu,
    ],
    [
      { nodes: [aNode('silent', ['tracker'])] },
      /^! node silent +machine \(00ff00ff00ff00ff\), not seen for 1 min 30 s: 2.* waited in its spool, sealing waits for it/mu,
    ],
    [
      { nodes: [aNode('missing', ['tracker'])] },
      /^! node missing +.*sealing goes on without it; its events restate days/mu,
    ],
    [{ days: { unsealed: 1, renewing: 0 } }, /^ {2}days to seal +1 day; usual after midnight/mu],
    [{ days: { unsealed: 5, renewing: 0 } }, /^! days to seal +5 days; more than usual/mu],
    [
      { setAside: 1 },
      /^! set aside +1 record could not be shipped; see "shelftrace set-aside list"/mu,
    ],
  ] as const
  for (const [change, told] of cases) {
    answerWith(200, { ...calm, ...change })
    const { stdout } = await run(['status'])
    assert.match(stdout, told)
    const isOdd = told.source.startsWith('^!')
    assert.equal(stdout.startsWith('1 line to look at, marked with !\n'), isOdd)
  }
})

test('a status fits the terminal', async () => {
  answerWith(200, { ...calm, crowds: 2, days: { unsealed: 9, renewing: 1_000 } })

  const { stdout } = await run(['status', '--no-color'], { columns: 60 })

  assert.ok(stdout.split('\n').every((line) => line.length <= 60))
})

test('status begins with what the node finds wrong with itself, or says that nothing is', async () => {
  const status = {
    version: '1.0.0',
    warehouse: { kind: 'embedded', available: true, version: '26.7' },
    spool: { bytes: 0 },
    lagMs: 0,
    clock: { offsetMs: 0 },
    failing: [],
  }
  const since = '2026-03-01T11:55:00.000Z'
  const summary = 'Events are answered with 503 (full); senders must repeat them.'
  const alert = { name: 'ShelftraceEventsRefused', severity: 'page', since, summary }
  answerWith(200, { ...status, alerts: [alert] })
  const bad = await run(['status', '--wide'])
  answerWith(200, { ...status, alerts: [] })
  const good = await run(['status'])

  assert.match(
    bad.stdout,
    /^! EventsRefused +Events are answered with 503 .* Since 2026-03-01T11:55:00\.000Z; see ShelftraceEventsRefused in the runbook$/mu
  )
  assert.match(good.stdout, /^All is as it should be\.$/mu)
})
