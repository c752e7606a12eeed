import assert from 'node:assert/strict'
import { test } from 'node:test'
import { announceIfSlow } from '../../src/days/announce.ts'
import { shiftInstant } from '../../src/warehouse/instant.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'

const atMs = Date.UTC(2026, 2, 2, 12)

/** The same warehouse whose clock stands. */
function at(warehouse: Warehouse, now: string): Warehouse {
  const rows = async (sql: string, params?: Parameters<Warehouse['rows']>[1]) =>
    sql.startsWith('SELECT toString(now64(6))') ? [{ now }] : await warehouse.rows(sql, params)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...warehouse, rows: rows as Warehouse['rows'] }
}

test('a batch that became visible too late for the readings that wait for it is pending again, under an instant of then, and touches its days again once its marks no longer cover the delay', async (t) => {
  const { warehouse, loader } = await aWorld(t)
  await loader.ship([aClick(anAd(), atMs), aPurchase({ atMs })])
  const [shipped] = await warehouse.rows<{ at: string }>(
    'SELECT toString(any(shipped_at)) AS at FROM delivery'
  )
  const shippedAt = shipped?.at ?? ''
  const pendingUnder = async () =>
    (
      await warehouse.rows<{ at: string }>(
        'SELECT DISTINCT toString(shipped_at) AS at FROM pending_purchase ORDER BY at'
      )
    ).map((row) => row.at)
  const touchedCount = async () =>
    (
      await warehouse.rows<{ count: number }>('SELECT toUInt32(count()) AS count FROM touched_span')
    )[0]?.count
  const announceAfter = async (tookMs: number) => {
    const now = shiftInstant(shippedAt, tookMs)
    await announceIfSlow(
      { warehouse: at(warehouse, now), settleMs: 2_000 },
      { shippedAt, deliveredMs: { first: atMs, last: atMs } }
    )
    return now
  }
  const [before, touched] = [await pendingUnder(), await touchedCount()]

  await announceAfter(999)
  assert.deepEqual([await pendingUnder(), await touchedCount()], [before, touched])
  const late = await announceAfter(1_001)
  assert.deepEqual(await pendingUnder(), [...before, late])
  assert.equal(await touchedCount(), touched)
  const later = await announceAfter(300_001)
  assert.deepEqual(await pendingUnder(), [...before, late, later])
  assert.ok(((await touchedCount()) ?? 0) > (touched ?? 0))
})
