import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firedPlace, watchFiredPlaces } from '../../src/catalog/fired-place.ts'
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
  const watch = watchFiredPlaces({ current: () => snapshot }, () => (toldCount += 1))
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
