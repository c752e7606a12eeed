import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firedPlace, watchDecisions } from '../../src/catalog/fired-place.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'

const site = { id: 101, name: 'App', type: 'MOBILE_APP' as const, marketIds: [1] }
const shop = { id: 10, name: 'Shop', sites: [site] }

function withPublisher(changes: object): typeof emptySnapshot {
  const publishers: CatalogBundle['publishers'] = [{ ...shop, ...changes }]
  return extendSnapshot(emptySnapshot, { publishers })
}

test('a site has its type and what its publisher says of the backend; an unknown one has neither', () => {
  const snapshot = withPublisher({ firesFromBackend: true })

  assert.deepEqual(firedPlace(snapshot, 10, 101), {
    siteType: 'MOBILE_APP',
    firesFromBackend: true,
  })
  assert.deepEqual(firedPlace(snapshot, 10, 102), { siteType: null, firesFromBackend: true })
  assert.deepEqual(firedPlace(snapshot, 11, 101), { siteType: null, firesFromBackend: false })
  assert.equal(firedPlace(withPublisher({}), 10, 101).firesFromBackend, false)
})

test('the trackers are told at once, and then of each change that may alter a verdict, and of no other', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let snapshot = withPublisher({})
  let toldCount = 0
  const watch = watchDecisions({ current: () => snapshot }, () => (toldCount += 1))
  t.after(() => watch.stop())
  const counts = [toldCount]
  for (const changes of [
    { name: 'Another name' },
    { firesFromBackend: true },
    { firesFromBackend: true, sites: [{ ...site, type: 'DESKTOP' }] },
    { firesFromBackend: true, sites: [] },
    { firesFromBackend: true, sites: [] },
  ]) {
    snapshot = withPublisher(changes)
    t.mock.timers.tick(100)
    counts.push(toldCount)
  }

  assert.deepEqual(counts, [1, 1, 2, 3, 4, 4])
})

function accessTo(publisherId: number) {
  return { access: [{ publisherId, marketIds: [1] }] }
}

test('the trackers are told when the catalog begins or ceases to contradict ads', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let snapshot = emptySnapshot
  let toldCount = 0
  const watch = watchDecisions({ current: () => snapshot }, () => (toldCount += 1))
  t.after(() => watch.stop())
  const market = { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }
  const tell = (bundle: Parameters<typeof extendSnapshot>[1]) => {
    const before = toldCount
    snapshot = extendSnapshot(snapshot, bundle)
    t.mock.timers.tick(100)
    return toldCount - before
  }

  assert.equal(tell({ advertisers: [{ id: 1, name: 'A', ...accessTo(20) }] }), 1)
  assert.equal(tell({ advertisers: [{ id: 1, name: 'Other name', ...accessTo(20) }] }), 0)
  assert.equal(tell({ advertisers: [{ id: 1, name: 'A', ...accessTo(10) }] }), 1)
  assert.equal(tell({ campaigns: [{ id: 5, advertiserId: 1, name: 'C' }] }), 1)
  assert.equal(tell({ adGroups: [{ id: 7, campaignId: 5, name: 'G', type: 'SPA' }] }), 1)
  assert.equal(tell({ markets: [{ ...market, costPerClickMax: '1' }] }), 1)
  assert.equal(tell({ markets: [{ ...market, costPerClickMax: '2' }] }), 1)
  assert.equal(tell({ markets: [{ ...market, code: 'AT', costPerClickMax: '2' }] }), 0)
  assert.equal(tell({ creativeSizes: [{ id: 1, name: 'S', width: 1, height: 1 }] }), 0)
})
