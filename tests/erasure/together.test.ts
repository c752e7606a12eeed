import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { divide, eraseDue, eraseLimits } from '../../src/erasure/erase.ts'
import { findErasure, requestErasure } from '../../src/erasure/erasures.ts'
import { SharedLock } from '../../src/lib/shared-lock.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { HistoryEvent } from '../helpers/history.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import { hashIdentity, openTrackingData } from '../helpers/shipment.ts'
import { silentLog } from '../helpers/silent-log.ts'

const weekMs = 604_800_000
const dayMs = Date.UTC(2026, 2, 2, 12)
const publisherId = 10
const people = ['anna', 'berta', 'carla']

function depsOf(warehouse: Warehouse) {
  const rowContext = { openTrackingData, hashIdentity }
  return { warehouse, rowContext, settleMs: 0, visibilityMs: 0, log: silentLog }
}

/** A click in each of four weeks, and a purchase that the last of them earns. */
function aHistoryOf(userId: string, index: number) {
  const clicks = [0, 1, 2, 3].map((week) => {
    const servedAtMs = dayMs - week * weekMs
    const servedAdId = `${index}${week}`.padEnd(32, 'a')
    return aClick(anAd({ servedAtMs, servedAdId, userId }), servedAtMs + 1_000)
  })
  const deliveryId = `${index}`.padEnd(32, 'd')
  const purchase = aPurchase({ atMs: dayMs + 3_600_000, transactionId: `t-${userId}`, deliveryId })
  return [...clicks, { ...purchase, userId }]
}

async function aWorldOfPeople(t: TestContext) {
  const world = await aWorld(t)
  await world.loader.ship(people.flatMap(aHistoryOf))
  await world.settle()
  return world
}

async function request(warehouse: Warehouse, userId: string): Promise<string> {
  const identities = [hashIdentity('user', publisherId, userId)]
  return (await requestErasure(warehouse, { publisherId, identities })).id
}

async function shoppersOf(warehouse: Warehouse): Promise<readonly string[]> {
  const rows = await warehouse.rows<{ identity: string }>(
    `SELECT DISTINCT lower(hex(identity)) AS identity FROM (
       SELECT identity FROM touchpoint UNION ALL SELECT identity FROM purchase_identity
       UNION ALL SELECT user_identity FROM delivery)`
  )
  const found = new Set(rows.map(({ identity }) => identity))
  return people.filter((name) => found.has(hashIdentity('user', publisherId, name)))
}

test('people who are due together are erased by one statement a table, and nobody else is', async (t) => {
  const world = await aWorldOfPeople(t)
  const { warehouse } = world
  const before = await world.figures()
  const ids = [await request(warehouse, 'anna'), await request(warehouse, 'berta')]
  const changed: string[] = []
  const counting: Warehouse = {
    ...warehouse,
    command: async (sql, params) => {
      const [, table] = /^ALTER TABLE (\w+)/u.exec(sql) ?? []
      if (table !== undefined) changed.push(table)
      await warehouse.command(sql, params)
    },
  }

  const { passCount } = await eraseDue(depsOf(counting))

  assert.equal(passCount, 2)
  assert.deepEqual(changed, ['late_touchpoint', 'delivery', 'touchpoint', 'purchase_identity'])
  assert.deepEqual(await shoppersOf(warehouse), ['carla'])
  for (const id of ids) assert.equal((await findErasure(warehouse, id))?.state, 'erased')
  assert.deepEqual(await world.figures(), before)
})

test('of each of them goes what was received before the own request, and later rows stay', async (t) => {
  const { loader, warehouse } = await aWorldOfPeople(t)
  await request(warehouse, 'anna')
  // Not earlier than the request, and not later than the next one.
  await waitMs(5)
  const betweenMs = Date.now()
  await waitMs(5)
  await loader.ship(['anna', 'berta'].map((userId, index) => aLaterClick(userId, index, betweenMs)))
  await request(warehouse, 'berta')

  await eraseDue(depsOf(warehouse))

  assert.deepEqual(await shoppersOf(warehouse), ['anna', 'carla'])
  const [left] = await warehouse.rows<{ count: number }>(
    'SELECT toUInt32(count()) AS count FROM touchpoint FINAL WHERE identity = unhex({identity:String})',
    { identity: hashIdentity('user', publisherId, 'anna') }
  )
  assert.equal(left?.count, 1)
})

test('one whose purchases are not attributed holds up nobody else', async (t) => {
  const { loader, warehouse } = await aWorldOfPeople(t)
  await loader.ship([
    {
      ...aPurchase({ atMs: dayMs, transactionId: 'new', deliveryId: 'e'.repeat(32) }),
      userId: 'anna',
    },
  ])
  const ids = [await request(warehouse, 'anna'), await request(warehouse, 'berta')]

  const { passCount, waitingCount } = await eraseDue(depsOf(warehouse))

  assert.deepEqual([passCount, waitingCount], [1, 1])
  const states = await Promise.all(ids.map((id) => findErasure(warehouse, id)))
  assert.deepEqual(
    states.map((one) => one?.state),
    ['requested', 'erased']
  )
  assert.deepEqual(await shoppersOf(warehouse), ['anna', 'carla'])
})

test('whoever needs everything to stand still waits for a part of an erasure, not for the whole', async (t) => {
  const { warehouse } = await aWorldOfPeople(t)
  await request(warehouse, 'anna')
  const lock = new SharedLock()
  const seen: string[] = []
  let backup: Promise<void> | undefined
  const noting: Warehouse = {
    ...warehouse,
    command: async (sql, params) => {
      const [, table] = /^ALTER TABLE (\w+)/u.exec(sql) ?? []
      if (table !== undefined) seen.push(table)
      backup ??= lock.runAlone(async () => {
        await Promise.resolve()
        seen.push('still')
      })
      await warehouse.command(sql, params)
    },
  }

  await eraseDue({ ...depsOf(noting), asStep: (work) => lock.run(work) })
  await backup

  assert.deepEqual(seen, [
    'still',
    'late_touchpoint',
    'delivery',
    'touchpoint',
    'purchase_identity',
  ])
})

test('a statement has bounded work: changes of a partition stay together as far as they fit', () => {
  const { bytesPerStatementMax, changesPerStatementMax } = eraseLimits
  const half = bytesPerStatementMax / 2
  const bytes = new Map([
    ['20260301', half],
    ['20260308', half],
    ['20260315', 1],
    ['20260322', 10 * bytesPerStatementMax],
  ])
  const changes = [...bytes.keys(), '20260329'].flatMap((partition) =>
    ['a', 'b'].map((id) => ({ id, partition }))
  )

  const partitions = divide(changes, bytes).map((one) =>
    Array.from(new Set(one.map(({ partition }) => partition)))
  )

  assert.deepEqual(partitions, [['20260301', '20260308'], ['20260315'], ['20260322'], ['20260329']])
  const many = Array.from({ length: 2 * changesPerStatementMax + 1 }, (_, index) => ({
    id: String(index),
    partition: '20260301',
  }))
  assert.deepEqual(
    divide(many, bytes).map(({ length }) => length),
    [changesPerStatementMax, changesPerStatementMax, 1]
  )
  assert.deepEqual(divide([], bytes), [])
})

function aLaterClick(userId: string, index: number, atMs: number): HistoryEvent {
  const servedAdId = `${index}`.padEnd(32, 'f')
  return aClick(anAd({ servedAtMs: atMs - 1, servedAdId, userId }), atMs)
}

async function waitMs(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
