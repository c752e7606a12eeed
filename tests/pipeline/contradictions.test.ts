// Ad events that contradict the catalog: set aside, shown by publisher and rule, replayed once it is mended.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { createEventRules } from '../../src/catalog/event-rules.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import type { CatalogSnapshot } from '../../src/catalog/snapshot.ts'
import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'
import { eraseSetAside } from '../../src/erasure/erase-set-aside.ts'
import {
  countContradictions,
  countSetAside,
  listSetAside,
  replaySetAside,
} from '../../src/pipeline/set-aside.ts'
import type { ShipDeps } from '../../src/pipeline/ship.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import {
  aConversion,
  aShipment,
  anEvent,
  append,
  hashIdentity,
  mint,
  snapshot,
  shipBatch,
} from '../helpers/shipment.ts'
import type { Shipment } from '../helpers/shipment.ts'
import { anAd, servedAtMs } from '../tracking-data/builders.ts'

const minuteMs = 60_000
const market = { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }
const bounded = bundleOf({ markets: [{ ...market, costPerClickMax: '0.25' }] })
const mended = bundleOf({ markets: [{ ...market, costPerClickMax: '0.3' }] })

function bundleOf(bundle: CatalogBundle): CatalogSnapshot {
  return extendSnapshot(emptySnapshot, bundle)
}

interface World extends Shipment {
  /** What this node has read, and what all nodes have written. */
  readonly catalog: { current: CatalogSnapshot; stored: CatalogSnapshot }
}

async function aWorld(t: TestContext, first: CatalogSnapshot): Promise<World> {
  const shipment = await aShipment(t)
  const catalog = { current: first, stored: first }
  const rules = createEventRules({
    current: () => catalog.current,
    refresh: () => {
      catalog.current = catalog.stored
      return Promise.resolve()
    },
  })
  const deps: ShipDeps = {
    ...shipment.deps,
    rowContext: { ...shipment.deps.rowContext, ...rules },
    settleMs: 0,
  }
  return { ...shipment, deps, catalog }
}

function priced(costPerClickMicros: bigint): string {
  return mint(anAd({ costPerClickMicros, costPerMilleMicros: 0n })).trackingData
}

async function chargeOf(warehouse: Warehouse): Promise<string> {
  const [row] = await warehouse.rows<{ charge: string }>(
    `SELECT toString(sum(charge)) AS charge FROM ad_event FINAL WHERE verdict = 'counted' AND kind = 'click'`
  )
  return row?.charge ?? ''
}

async function creditsOf({ warehouse }: Shipment): Promise<number> {
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  const [row] = await warehouse.rows<{ n: number }>(
    'SELECT sum(length(line_index)) AS n FROM attribution FINAL'
  )
  return Number(row?.n)
}

test('a price at the bound counts, and one a micro above is set aside, by publisher and rule', async (t) => {
  const { deps, warehouse, spool } = await aWorld(t, bounded)
  await append(spool, [
    anEvent({ trackingData: priced(250_000n) }),
    anEvent({ trackingData: priced(250_001n) }),
    anEvent({ trackingData: priced(250_001n), kind: 'impression', receivedAtMs: servedAtMs + 1 }),
  ])

  const result = await shipBatch(deps)

  assert.deepEqual([result.shippedCount, result.setAsideCount], [3, 2])
  const pair = { publisherId: 10, rule: 'price-above-bound' }
  assert.deepEqual(result.contradictions, [pair, pair])
  assert.equal(await chargeOf(warehouse), '0.25')
  const found = await listSetAside(warehouse, { after: null, limit: 10 })
  assert.deepEqual(
    found.map(({ type, reason, contradiction }) => [type, reason, contradiction]),
    Array.from({ length: 2 }, () => [
      'ad-event',
      'the ad contradicts the catalog: costPerClick must be at most 0.25, the bound of the market',
      pair,
    ])
  )
  const [counted, ...others] = await countContradictions(warehouse)
  assert.deepEqual([counted?.publisherId, counted?.rule, counted?.count], [10, pair.rule, 2])
  assert.deepEqual(others, [])
})

test('an event that does not count anyway keeps its verdict', async (t) => {
  const { deps, warehouse, spool } = await aWorld(t, bounded)
  const trackingData = priced(250_001n)
  await append(spool, [
    anEvent({ trackingData, caller: 'bot' }),
    anEvent({ trackingData, receivedAtMs: servedAtMs + 8 * 24 * 60 * minuteMs }),
  ])

  const { setAsideCount } = await shipBatch(deps)

  assert.equal(setAsideCount, 0)
  assert.equal(await chargeOf(warehouse), '0')
})

test('once the catalog is mended a replay charges and credits exactly what the catalog allows, and twice gives no more', async (t) => {
  const world = await aWorld(t, bounded)
  const { deps, warehouse, spool, catalog } = world
  await append(spool, [
    anEvent({ trackingData: priced(250_001n) }),
    anEvent({ trackingData: priced(300_001n) }),
    aConversion({ receivedAtMs: servedAtMs + 120 * minuteMs }),
  ])
  await shipBatch(deps)
  assert.deepEqual([await creditsOf(world), await chargeOf(warehouse)], [0, '0'])
  const early = await replaySetAside(deps, null)
  assert.deepEqual([early.replayed, early.setAsideAgain, early.remaining], [0, 2, 2])

  catalog.current = mended
  catalog.stored = mended
  const first = await replaySetAside(deps, null)
  // The purchase was attributed long ago: the late touchpoint makes it pending again.
  const credits = await creditsOf(world)
  const after = await snapshot(warehouse)
  const second = await replaySetAside(deps, null)

  assert.deepEqual([first.replayed, first.setAsideAgain, first.remaining], [1, 1, 1])
  assert.deepEqual([second.replayed, second.setAsideAgain, second.remaining], [0, 1, 1])
  assert.deepEqual([credits, await creditsOf(world)], [1, 1])
  assert.equal(await chargeOf(warehouse), '0.250001')
  assert.deepEqual(await snapshot(warehouse), after)
})

test('a catalog that another node has mended is read before anything is set aside', async (t) => {
  const { deps, warehouse, spool, catalog } = await aWorld(t, bounded)
  catalog.stored = mended
  await append(spool, [anEvent({ trackingData: priced(300_000n) })])

  const { setAsideCount } = await shipBatch(deps)

  assert.equal(setAsideCount, 0)
  assert.equal(await chargeOf(warehouse), '0.3')
})

test('each rule of ownership sets aside the events of its publisher, and ids that nobody knows count', async (t) => {
  const { advertiserId, campaignId, adGroupId } = anAd()
  const owners = bundleOf({
    advertisers: [{ id: advertiserId, name: 'A', access: [{ publisherId: 10, marketIds: [1] }] }],
    campaigns: [{ id: campaignId, advertiserId, name: 'C' }],
    adGroups: [{ id: adGroupId, campaignId, name: 'G', type: 'SPA' }],
  })
  const { deps, warehouse, spool } = await aWorld(t, owners)
  await append(
    spool,
    [
      anAd(),
      anAd({ advertiserId: advertiserId + 1 }),
      anAd({ campaignId: campaignId + 1 }),
      anAd({ publisherId: 11 }),
      anAd({ advertiserId: 9, campaignId: 9, adGroupId: 9, publisherId: 12 }),
    ].map((ad) => anEvent({ trackingData: mint(ad).trackingData }))
  )

  await shipBatch(deps)

  const found = await countContradictions(warehouse)
  assert.deepEqual(
    found.map(({ publisherId, rule, count }) => `${publisherId} ${rule} ${count}`),
    ['10 foreign-ad-group 1', '10 foreign-campaign 1', '11 no-access 1']
  )
  const [row] = await warehouse.rows<{ n: number }>('SELECT count() AS n FROM ad_event FINAL')
  assert.equal(row?.n, 2)
})

test('of an erased shopper nothing waits any more, so no replay brings the shopper back', async (t) => {
  const { deps, warehouse, spool } = await aWorld(t, bounded)
  const other = mint(anAd({ costPerClickMicros: 300_000n, userId: 'other', userLoggedInId: '' }))
  await append(spool, [
    anEvent({ trackingData: mint(anAd({ costPerClickMicros: 300_000n })).trackingData }),
    anEvent({ trackingData: other.trackingData }),
  ])
  await shipBatch(deps)
  const identities = new Set([hashIdentity('user', 10, 'user-1')])

  await eraseSetAside(deps, [{ publisherId: 10, identities, requestedAtMs: Date.UTC(2099, 0, 1) }])

  assert.equal(await countSetAside(warehouse), 1)
})

test('what was set aside before the upgrade is listed and counted as before', async (t) => {
  const { deps, warehouse, spool } = await aWorld(t, emptySnapshot)
  await warehouse.command('ALTER TABLE set_aside DROP COLUMN publisher_id, DROP COLUMN rule')
  await warehouse.command("DELETE FROM migration WHERE name = '0021-contradicting-events.sql'")
  const old = {
    key: 'ab'.repeat(16),
    reason: 'damaged',
    record: 'AAAA',
    set_aside_at: '2026-03-02 10:00:00',
  }
  await warehouse.insert('set_aside', Buffer.from(`${JSON.stringify(old)}\n`))

  assert.deepEqual(await migrate(warehouse), ['0021-contradicting-events.sql'])

  const [found] = await listSetAside(warehouse, { after: null, limit: 10 })
  assert.deepEqual([found?.reason, found?.contradiction], ['damaged', null])
  assert.deepEqual(await countContradictions(warehouse), [])
  await append(spool, [anEvent()])
  assert.equal((await shipBatch(deps)).setAsideCount, 0)
})
