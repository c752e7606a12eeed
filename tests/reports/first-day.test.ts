import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFirstDay, readFirstDays } from '../../src/reports/first-day.ts'
import { aClick, anAd, aWorld } from '../helpers/seal-scenario.ts'

// 1:30 of 3 March in Berlin.
const atMs = Date.UTC(2026, 2, 3, 0, 30)

test('the first day is that of the first counted event in its market, before it is sealed and afterwards', async (t) => {
  const { warehouse, markets, loader, settle } = await aWorld(t)
  const read = async (advertiserId: number) =>
    await readFirstDay({ warehouse, markets }, advertiserId)
  assert.equal(await read(1), null)

  const late = anAd({ servedAdId: 'b'.repeat(32), servedAtMs: atMs + 5 * 86_400_000 })
  const foreign = anAd({ servedAdId: 'c'.repeat(32), servedAtMs: atMs, advertiserId: 2 })
  // Served late on 2 March by UTC, and clicked after midnight in Berlin.
  const first = anAd({ servedAtMs: atMs - 3_600_000 })
  const seenByBot = anAd({ servedAdId: 'd'.repeat(32), servedAtMs: atMs, advertiserId: 3 })
  const bot = { ...aClick(seenByBot, atMs), userAgent: 'Googlebot/2.1' }
  await loader.ship([
    aClick(late, late.servedAtMs + 1_000),
    aClick(first, atMs),
    aClick(foreign, atMs + 86_400_000),
    bot,
  ])

  const readAll = async () =>
    Object.fromEntries(await readFirstDays({ warehouse, markets }, [1, 2, 3]))
  const all = { 1: '2026-03-03', 2: '2026-03-04' }
  assert.deepEqual(await readAll(), all)
  const open = [await read(1), await read(2), await read(3)]
  assert.deepEqual(open, ['2026-03-03', '2026-03-04', null])
  await settle()
  assert.deepEqual([await read(1), await read(2)], open.slice(0, 2))
  assert.deepEqual(await readAll(), all)
})

test('a day before the sealed ones is the first as soon as its events are there, not only once it is sealed', async (t) => {
  const { warehouse, markets, loader, settle } = await aWorld(t)
  const later = anAd({ servedAtMs: atMs + 5 * 86_400_000 })
  const other = anAd({ servedAdId: 'c'.repeat(32), servedAtMs: atMs, advertiserId: 2 })
  await loader.ship([aClick(later, later.servedAtMs + 1_000), aClick(other, atMs)])
  await settle()
  const read = async () => [
    await readFirstDay({ warehouse, markets }, 1),
    Object.fromEntries(await readFirstDays({ warehouse, markets }, [1, 2])),
  ]
  assert.deepEqual(await read(), ['2026-03-08', { 1: '2026-03-08', 2: '2026-03-03' }])

  const earlier = anAd({ servedAdId: 'b'.repeat(32), servedAtMs: atMs - 2 * 86_400_000 })
  await loader.ship([aClick(earlier, earlier.servedAtMs + 1_000)])
  const all = ['2026-03-01', { 1: '2026-03-01', 2: '2026-03-03' }]
  assert.deepEqual(await read(), all)
  await settle()
  assert.deepEqual(await read(), all)
})
