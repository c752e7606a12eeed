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
  assert.match(text.stdout, /not counted: bot +2/)
  assert.match(text.stdout, /crowds +3\nmisplaced +4\n/)
  assert.match(
    text.stdout,
    /retention +400 days, days before 2025-04-01 are final, waits for 2025-04-01 to be sealed/
  )
  assert.match(text.stdout, /clock +1200 ms behind the warehouse's/)
  assert.match(text.stdout, /fails +ship fails: WAREHOUSE_REFUSED/)
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
    new RegExp(`believe everybody +publishers without key and source list: 1 ${shops}\\n`)
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
  assert.match(stdout, /warehouse +does not answer/)
  assert.match(stdout, /spool +400 bytes wait, the oldest for 12 ms/)
  assert.match(stdout, /clock +not compared yet/)
  assert.doesNotMatch(stdout, /set aside/)
})
