import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStatus } from '../../src/ops/status.ts'
import { openMemorySpool } from '../../src/spool/memory-spool.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import { aClick, anAd } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const hourMs = 3_600_000

test('events under a campaign of another advertiser are told, those of unknown campaigns are not', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const spool = openMemorySpool({ clock: Date.now })
  t.after(() => spool.close())
  const [row] = await warehouse.rows<{ nowMs: number }>(
    'SELECT toUnixTimestamp64Milli(now64(3)) AS nowMs'
  )
  const atMs = (row?.nowMs ?? 0) - hourMs
  const ad = (letter: string, campaignId: number, servedAtMs = atMs) =>
    anAd({ servedAdId: letter.repeat(32), servedAtMs, campaignId })
  await createHistoryLoader(warehouse, 0).ship([
    aClick(ad('1', 1001), atMs),
    aClick(ad('2', 2001), atMs),
    aClick(ad('3', 9999), atMs),
    aClick(ad('4', 2001, atMs - 9 * 24 * hourMs), atMs - 9 * 24 * hourMs),
  ])
  const owners: Readonly<Record<number, number>> = { 1001: 1, 2001: 2 }

  const status = await readStatus({
    version: '1.0.0',
    warehouseKind: 'embedded',
    warehouse,
    spool,
    sealedThrough: () => Promise.resolve([]),
    retention: () => Promise.resolve({ days: 400, finalBefore: null, waitsForDay: null }),
    advertiserOfCampaign: (id) => owners[id] ?? null,
    clock: () => atMs,
  })

  assert.equal(status.misplaced, 1)
  assert.equal(status.crowds, 0)
  assert.deepEqual(status.uncounted, {})
})
