import assert from 'node:assert/strict'
import { test } from 'node:test'
import { announceSeals } from '../../src/days/seal.ts'
import { sweepLimits } from '../../src/days/sweep.ts'
import { readRestatements } from '../../src/days/restatement-list.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const startMs = Date.UTC(2026, 2, 3, 2)

async function insertSeals(warehouse: Warehouse, secondsApart: readonly number[]): Promise<void> {
  const lines = secondsApart.map((seconds, index) =>
    JSON.stringify({
      day: new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10),
      unit: 1,
      from_at: '2026-01-01 00:00:00.000',
      to_at: '2026-01-02 00:00:00.000',
      revision: String(index + 1),
      read_at: '2026-03-03 01:00:00.000000',
      sealed_at: new Date(startMs + seconds * 1_000).toISOString().slice(0, 23).replace('T', ' '),
      definition: 'UTC EUR',
      rates: '',
    })
  )
  await warehouse.insert('sealed_day', Buffer.from(lines.join('\n')))
}

test('asking from the last instant on gets every restatement, however many a minute has', async (t) => {
  const warehouse = await openTestWarehouse(t)
  await insertSeals(warehouse, [0, 1, 2, 3, 4, 5, 5, 5, 6, 90])

  const seen = new Set<string>()
  let sinceMs = 0
  let rounds = 0
  for (let hasMore = true; hasMore; rounds++) {
    const answer = await readRestatements(warehouse, sinceMs, 2)
    for (const { revision } of answer.days) seen.add(revision)
    sinceMs = answer.days.at(-1)?.sealedAtMs ?? sinceMs
    hasMore = answer.hasMore
    assert.ok(rounds < 20)
  }

  assert.equal(seen.size, 10)
  assert.deepEqual((await readRestatements(warehouse, sinceMs, 2)).hasMore, false)
})

interface Held {
  readonly held: Warehouse
  readonly inserts: () => number
}

/** Suspends the process during its first insert. The warehouse's clock goes on meanwhile. */
function heldFor(warehouse: Warehouse, heldMs: number): Held {
  let aheadMs = 0
  let insertCount = 0
  const held: Warehouse = {
    command: (sql, params) => warehouse.command(sql, params),
    stream: (sql, params, signal) => warehouse.stream(sql, params, signal),
    barrier: (tables) => warehouse.barrier(tables),
    close: () => Promise.resolve(),
    rows: async <Row>(sql: string, params = {}) => {
      if (!sql.includes('now64')) return await warehouse.rows<Row>(sql, params)
      return await warehouse.rows<Row>(
        'SELECT toString(now64(6) + toIntervalMillisecond({aheadMs:Int64})) AS now',
        { aheadMs }
      )
    },
    insert: async (table, lines, columns) => {
      insertCount += 1
      if (insertCount === 1) aheadMs += heldMs
      await warehouse.insert(table, lines, columns)
    },
  }
  return { held, inserts: () => insertCount }
}

interface Now {
  readonly now: string
  readonly ms: number
}

async function readNow(warehouse: Warehouse): Promise<Now> {
  const [now] = await warehouse.rows<Now>(
    'SELECT toString(now64(6)) AS now, toUnixTimestamp64Milli(now64(3)) AS ms'
  )
  assert.ok(now !== undefined)
  return now
}

function aSeal(readAt: string) {
  return {
    day: '2026-01-01',
    unit: 1,
    from_at: '2026-01-01 00:00:00.000',
    to_at: '2026-01-02 00:00:00.000',
    revision: '5',
    read_at: readAt,
    definition: 'UTC EUR',
    rates: '',
  }
}

test('seals that became visible long after their instant are announced again by a younger one', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const { held, inserts } = heldFor(warehouse, 120_000)
  const { now, ms } = await readNow(warehouse)

  await announceSeals(held, { seals: [aSeal(now)], revision: 5n, readAt: now })

  const { days } = await readRestatements(warehouse, ms + 119_000)
  assert.equal(inserts(), 2)
  assert.deepEqual(
    days.map(({ revision, sealedAtMs }) => [revision, sealedAtMs >= ms + 119_000]),
    [['5', true]]
  )
})

test('a seal that became visible when its rows might be swept is taken back', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const { held } = heldFor(warehouse, sweepLimits.orphanMs / 2 + 60_000)
  const { now } = await readNow(warehouse)

  await assert.rejects(announceSeals(held, { seals: [aSeal(now)], revision: 5n, readAt: now }), {
    code: 'WAREHOUSE_UNAVAILABLE',
  })

  assert.deepEqual((await readRestatements(warehouse, 0)).days, [])
})
