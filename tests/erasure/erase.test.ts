import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { createExplainer } from '../../src/attribution/explain/explain.ts'
import { emptySnapshot } from '../../src/catalog/snapshot.ts'
import { eraseDue } from '../../src/erasure/erase.ts'
import { erasedIdentity } from '../../src/erasure/erase-sql.ts'
import { findErasure, listErasures, requestErasure } from '../../src/erasure/erasures.ts'
import { rebuildDays } from '../../src/days/rebuild.ts'
import { createIntakeReader } from '../../src/reports/intake.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { findText } from '../helpers/find-text.ts'
import { generateHistory, seededRandom } from '../helpers/history.ts'
import { partsOf } from '../helpers/history-warehouse.ts'
import { aClick, aPurchase, aWorld, anAd, readFigures } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'
import {
  anEvent,
  aConversion,
  failing,
  hashIdentity,
  mint,
  openTrackingData,
} from '../helpers/shipment.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { anAd as aMintedAd } from '../tracking-data/builders.ts'

const hourMs = 3_600_000
const day2Ms = Date.UTC(2026, 2, 2, 12)
const publisherId = 10
const shopper = hashIdentity('user', publisherId, 'shopper')

function depsOf(warehouse: Warehouse) {
  const rowContext = { openTrackingData, hashIdentity }
  return { warehouse, rowContext, settleMs: 0, visibilityMs: 0, log: silentLog }
}

async function attribute(warehouse: Warehouse): Promise<void> {
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

async function erase(
  { warehouse }: World,
  identities: readonly string[] = [shopper]
): Promise<string> {
  const { id } = await requestErasure(warehouse, { publisherId, identities })
  await eraseDue(depsOf(warehouse))
  return id
}

/** Every credit that counts, whatever it was read from. */
async function credits(warehouse: Warehouse): Promise<readonly unknown[]> {
  return await warehouse.rows(
    `SELECT * EXCEPT (read_at, is_frozen) APPLY toString APPLY hex FROM attribution FINAL
     WHERE notEmpty(line_index) ORDER BY ALL`
  )
}

/** A click and the purchase that it earns, attributed. */
async function aCreditedWorld(t: TestContext): Promise<World> {
  const world = await aWorld(t)
  await world.loader.ship([
    aClick(anAd({ servedAtMs: day2Ms }), day2Ms),
    aPurchase({ atMs: day2Ms + hourMs }),
  ])
  await world.settle()
  return world
}

const creditedDay = ['2026-03-02 0/0/1 conversions 1 units 2 value 20 spend 0.25 sealed']

test('an erasure leaves every report as it was, also after all days are rebuilt and sealed again', async (t) => {
  const world = await aWorld(t)
  const { warehouse } = world
  const startMs = Date.UTC(2026, 0, 1)
  const histories = Array.from({ length: 4 }, (_, index) =>
    generateHistory(seededRandom(index + 1), { publisherId: 100 + index, startMs })
  )
  await world.loader.ship(histories.flatMap(partsOf))
  const advertisers = [
    ...new Set(histories.flatMap(({ events }) => events.map(({ ad }) => ad.advertiserId))),
  ].toSorted((a, b) => a - b)
  const range = { startDate: '2026-01-01', endDate: '2026-03-12' }
  const readIntake = createIntakeReader(warehouse)
  const readAll = async () => {
    const reports: unknown[] = []
    for (const advertiserId of advertisers) {
      for (const isByDay of [true, false]) {
        const lines = await readFigures(warehouse, world.markets, {
          ...range,
          advertiserId,
          isByDay,
        })
        reports.push(lines.map((line) => line.replace(/ (open|sealed)/u, '')))
      }
    }
    for (const history of histories) {
      const { signal } = new AbortController()
      const question = { ...range, siteIds: [], marketIds: [1], signal }
      reports.push(await readIntake({ ...question, publisherId: history.publisherId }))
    }
    return { reports, credits: await credits(warehouse) }
  }
  await world.settle()
  const before = await readAll()
  assert.ok(before.credits.length >= 4, `${before.credits.length} credits`)

  for (const { publisherId: id, deliveries, events } of histories) {
    const [first] = deliveries
    const person = first ?? events[0]?.ad ?? assert.fail('a history has somebody')
    const identities = [
      hashIdentity('user', id, person.userId),
      hashIdentity('login', id, person.userLoggedInId),
    ].filter((identity) => identity !== '')
    if (identities.length === 0) continue
    await requestErasure(warehouse, { publisherId: id, identities })
  }
  const result = await eraseDue(depsOf(warehouse))
  const erased = await readAll()
  await rebuildDays({ warehouse, firstDay: '2026-01-01', lastDay: '2026-03-12' })
  await world.settle()
  const rebuilt = await readAll()
  await world.loader.ship(histories.flatMap(partsOf))
  await world.settle()
  const repeated = await readAll()

  assert.ok(result.passCount >= 3, `${result.passCount} passes`)
  assert.deepEqual(erased, before)
  assert.deepEqual(rebuilt, before)
  assert.deepEqual(repeated.credits, before.credits)
  assert.deepEqual(repeated.reports, before.reports)
})

test('after an erasure the identity stands in the list of erasures alone, and nowhere once it is closed', async (t) => {
  const world = await aCreditedWorld(t)
  const { warehouse } = world
  const login = hashIdentity('login', publisherId, 'member')
  const both = { userId: 'shopper', userLoggedInId: 'member' }
  await world.loader.ship([
    aClick(anAd({ ...both, servedAdId: 'c'.repeat(32) }), day2Ms + 1),
    { ...aPurchase({ atMs: day2Ms, transactionId: 't-2', deliveryId: 'c'.repeat(32) }), ...both },
    // Not trusted, so that no purchase leads to it.
    {
      ...aPurchase({ atMs: day2Ms, transactionId: 't-3', deliveryId: 'b'.repeat(32) }),
      ...both,
      untrusted: true,
    },
  ])
  await world.settle()
  const tables = async (text: string) =>
    new Set((await findText(warehouse, text)).map((one) => one.split('.')[0]))
  const expected = new Set(['delivery', 'late_touchpoint', 'purchase_identity', 'touchpoint'])
  assert.deepEqual(await tables(shopper), expected)
  assert.deepEqual(await tables(login), expected)

  const id = await erase(world, [shopper, login])

  for (const text of [shopper, login]) assert.deepEqual(await tables(text), new Set(['erasure']))
  assert.equal((await findErasure(warehouse, id))?.state, 'erased')
  const [deliveries] = await warehouse.rows(
    `SELECT count() AS count FROM delivery FINAL WHERE lower(hex(user_identity)) = {erased:String}`,
    { erased: erasedIdentity }
  )
  assert.deepEqual(deliveries, { count: 3 })

  await warehouse.command(
    `INSERT INTO erasure (id, publisher_id, requested_at, stage, changed_at, erased_at, identities_hex)
     SELECT 'old', publisher_id, requested_at - toIntervalDay(31), 2, changed_at, erased_at, identities_hex FROM erasure FINAL`
  )
  await eraseDue(depsOf(warehouse))
  const hashes = await warehouse.rows(
    `SELECT id, length(identities_hex) AS count FROM erasure WHERE id = 'old' ORDER BY ALL`
  )
  assert.deepEqual(hashes, [{ id: 'old', count: 0 }])
  assert.equal((await findErasure(warehouse, 'old'))?.state, 'closed')
})

test('an erasure is not called done while a replica that did not know of it has changed nothing', async (t) => {
  const world = await aCreditedWorld(t)
  const { warehouse } = world
  let isBehind = true
  const behind: Warehouse = {
    ...warehouse,
    command: async (sql, params) => {
      // The replica that rewrites the part finds no such erasure, and the others take its result.
      if (isBehind && sql.startsWith('ALTER TABLE delivery ')) return
      await warehouse.command(sql, params)
    },
  }
  const { id } = await requestErasure(warehouse, { publisherId, identities: [shopper] })

  const first = await eraseDue(depsOf(behind))
  const told = await findErasure(warehouse, id)
  isBehind = false
  const second = await eraseDue(depsOf(behind))

  assert.deepEqual([first.passCount, first.waitingCount, told?.state], [0, 1, 'requested'])
  assert.equal(second.passCount, 1)
  const left = new Set((await findText(warehouse, shopper)).map((one) => one.split('.')[0]))
  assert.deepEqual(left, new Set(['erasure']))
})

test('late touchpoints, earlier deliveries and another reading do not change a frozen purchase', async (t) => {
  const world = await aCreditedWorld(t)
  const { warehouse } = world
  assert.deepEqual(await world.figures(), creditedDay)
  await erase(world)
  const frozen = await credits(warehouse)
  const explain = createExplainer({ warehouse, settleMs: 0, catalog: () => emptySnapshot })
  const { attribution } = (await explain({ publisherId, transactionId: 't-1' })) ?? {}
  assert.ok(attribution?.isFrozen)
  const readAgoMs = Date.now() - Date.parse(attribution.readAt)
  assert.ok(readAgoMs >= 0 && readAgoMs < 2 * 24 * hourMs, attribution.readAt)

  const later = anAd({ servedAtMs: day2Ms + 1_000, servedAdId: 'b'.repeat(32) })
  await world.loader.ship([aClick(later, day2Ms + 2_000)])
  await world.loader.ship([
    aPurchase({ atMs: day2Ms - 24 * hourMs, deliveryId: '1'.repeat(32), price: 99 }),
    aPurchase({ atMs: day2Ms + 30 * hourMs, deliveryId: '2'.repeat(32), price: 99 }),
  ])
  // Clicks that the earlier delivery would earn.
  const early = anAd({ servedAtMs: day2Ms - 48 * hourMs, servedAdId: 'e'.repeat(32) })
  await world.loader.ship([aClick(early, day2Ms - 47 * hourMs)])
  await world.settle()

  assert.deepEqual(await credits(warehouse), frozen)
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  assert.equal((await attributor.attributeBatch()).hasMore, false, 'nothing stays pending')
  await eraseDue(depsOf(warehouse))
  await world.settle()
  assert.deepEqual(await credits(warehouse), frozen)
})

test('an attribution under way in another engine loses against the frozen row, whatever day it wrote to', async (t) => {
  const world = await aCreditedWorld(t)
  const { warehouse } = world
  const before = await credits(warehouse)
  await requestErasure(warehouse, { publisherId, identities: [shopper] })
  await eraseDue(depsOf(warehouse))
  // It had read the purchase before and writes now, with another value and on the day before as well.
  const write = (day: string) =>
    warehouse.command(
      `INSERT INTO attribution SELECT * REPLACE (
         toUInt8(0) AS is_frozen, now64(6) + toIntervalDay(1) AS read_at, ${day} AS day, [1] AS line_quantity
       ) FROM (SELECT * FROM attribution FINAL WHERE is_frozen = 1 AND notEmpty(line_index))`
    )
  await write('day')
  assert.deepEqual(await credits(warehouse), before)
  await warehouse.command(
    `INSERT INTO purchase SELECT purchase_key, first, [toDate('2026-03-01')], publisher_id FROM purchase`
  )
  await warehouse.command(
    `INSERT INTO attribution SELECT * REPLACE (
       toUInt8(0) AS is_frozen, now64(6) AS read_at, toDate('2026-03-01') AS day
     ) FROM (SELECT * FROM attribution FINAL WHERE is_frozen = 1 AND notEmpty(line_index))`
  )
  assert.equal((await credits(warehouse)).length, 2)

  await erase(world, [hashIdentity('user', publisherId, 'somebody else')])

  assert.deepEqual(await credits(warehouse), before)
})

test('a pass that is cut off anywhere is finished by the next one, and two engines at once do no harm', async (t) => {
  const world = await aCreditedWorld(t)
  const { warehouse } = world
  const before = await credits(warehouse)
  const { id } = await requestErasure(warehouse, { publisherId, identities: [shopper] })
  let cutCount = 0
  for (let allowed = 0; ; allowed += 1) {
    let left = allowed
    const cut = failing(warehouse, (sql) => /^\s*(INSERT|ALTER)/u.test(sql) && (left -= 1) < 0)
    try {
      await eraseDue(depsOf(cut))
      if ((await findErasure(warehouse, id))?.state === 'erased') break
    } catch {
      cutCount += 1
    }
    await rebuildDays({ warehouse, firstDay: '2026-03-01', lastDay: '2026-03-04' })
    await attribute(warehouse)
    assert.deepEqual(await credits(warehouse), before, `after ${allowed} statements`)
  }
  assert.ok(cutCount >= 5, `${cutCount} cuts`)

  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await Promise.all([eraseDue(depsOf(warehouse)), eraseDue(depsOf(warehouse))])

  assert.deepEqual(await findText(warehouse, shopper), [
    'erasure.identities_hex',
    'erasure.identities',
  ])
  assert.deepEqual(await credits(warehouse), before)
})

test('what was received before the request and comes later is erased, and what is received after stays', async (t) => {
  const world = await aCreditedWorld(t)
  const { warehouse } = world
  await erase(world)
  const laterMs = Date.now()
  const after = anAd({ servedAtMs: laterMs, servedAdId: 'f'.repeat(32) })
  await world.loader.ship([
    aClick(anAd({ servedAtMs: day2Ms + hourMs, servedAdId: 'b'.repeat(32) }), day2Ms + 2 * hourMs),
    aClick(after, laterMs),
    aPurchase({ atMs: laterMs + 1, transactionId: 't-9', deliveryId: '9'.repeat(32) }),
  ])
  await attribute(warehouse)

  const { passCount } = await eraseDue(depsOf(warehouse))

  assert.equal(passCount, 1)
  const touchpoints = await warehouse.rows(
    'SELECT lower(hex(served_ad_id)) AS ad FROM touchpoint FINAL ORDER BY ad'
  )
  assert.deepEqual(touchpoints, [{ ad: 'f'.repeat(32) }])
  assert.equal((await credits(warehouse)).length, 2)
  assert.equal((await eraseDue(depsOf(warehouse))).passCount, 0, 'nothing is left to be erased')
})

test('erasing a logged-in person keeps purchases that their touchpoints earned under the user id', async (t) => {
  const world = await aWorld(t)
  const { warehouse } = world
  const ad = anAd({ servedAtMs: day2Ms, userLoggedInId: 'member' })
  await world.loader.ship([aClick(ad, day2Ms), aPurchase({ atMs: day2Ms + hourMs })])
  await world.settle()
  const before = await credits(warehouse)
  assert.equal(before.length, 1)

  await erase(world, [hashIdentity('login', publisherId, 'member')])
  await rebuildDays({ warehouse, firstDay: '2026-03-01', lastDay: '2026-03-04' })
  await attribute(warehouse)

  assert.deepEqual(await credits(warehouse), before)
  const touchpoints = await warehouse.rows('SELECT 1 FROM touchpoint FINAL')
  assert.deepEqual(touchpoints, [])
})

test('an erasure waits until the purchases of the person are attributed, and changes nothing before', async (t) => {
  const world = await aWorld(t)
  const { warehouse } = world
  await world.loader.ship([
    aClick(anAd({ servedAtMs: day2Ms }), day2Ms),
    aPurchase({ atMs: day2Ms + hourMs }),
  ])
  const { id } = await requestErasure(warehouse, { publisherId, identities: [shopper] })

  const first = await eraseDue(depsOf(warehouse))
  const touchpoints = await warehouse.rows('SELECT 1 FROM touchpoint FINAL')
  await attribute(warehouse)
  const second = await eraseDue(depsOf(warehouse))

  assert.deepEqual(first, { passCount: 0, waitingCount: 1 })
  assert.equal(touchpoints.length, 1)
  assert.deepEqual(second, { passCount: 1, waitingCount: 0 })
  assert.equal((await findErasure(warehouse, id))?.state, 'erased')
  assert.equal((await credits(warehouse)).length, 1)
})

test('what was set aside of the person goes as far as it can be read, and what is of others stays', async (t) => {
  const world = await aWorld(t)
  const { warehouse } = world
  const own = mint(aMintedAd({ userId: 'shopper' })).trackingData
  const records: Readonly<Record<string, string>> = {
    'own-event': JSON.stringify(anEvent({ trackingData: own })),
    'own-conversion': JSON.stringify(aConversion({ userIdentity: shopper })),
    'other-event': JSON.stringify(anEvent()),
    'other-conversion': JSON.stringify(aConversion()),
    'no-key': JSON.stringify(anEvent({ trackingData: 'x' })),
    frame: Buffer.from('damaged').toString('base64'),
    broken: '{"type"',
  }
  const lines = Object.entries(records).map(([key, record]) =>
    JSON.stringify({
      key,
      record,
      reason: randomUUID(),
      set_aside_at: '2026-03-03 00:00:00.000000',
    })
  )
  await warehouse.insert('set_aside', Buffer.from(`${lines.join('\n')}\n`))

  await erase(world)

  const left = await warehouse.rows<{ key: string }>('SELECT key FROM set_aside FINAL ORDER BY key')
  assert.deepEqual(
    left.map(({ key }) => key),
    ['broken', 'frame', 'no-key', 'other-conversion', 'other-event']
  )
})

test('the list of erasures is bounded, newest first, and an unknown id finds nothing', async (t) => {
  const { warehouse } = await aWorld(t)
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) {
    ids.push((await requestErasure(warehouse, { publisherId, identities: [shopper] })).id)
  }

  const listed = await listErasures(warehouse, 2)

  assert.deepEqual(
    listed.map(({ id }) => id),
    ids.toReversed().slice(0, 2)
  )
  assert.equal(await findErasure(warehouse, 'nothing'), null)
})
