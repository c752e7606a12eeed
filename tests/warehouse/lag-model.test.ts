import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { compareAttribution } from '../helpers/compare-attribution.ts'
import { playLagging } from '../helpers/lagging-days.ts'
import { openLaggingWarehouse } from '../helpers/lagging-warehouse.ts'

async function compare(
  t: TestContext,
  { seed, hasBarriers }: { seed: number; hasBarriers: boolean }
) {
  const { lagging, current, staleCount } = await openLaggingWarehouse(t, { seed, hasBarriers })
  const comparison = await compareAttribution({
    warehouse: current,
    steps: lagging,
    seed,
    historyCount: 24,
    crowdMax: seed % 2 === 0 ? 5_000 : 3,
    arrivalBatches: 6,
  })
  return { ...comparison, staleCount: staleCount() }
}

for (const seed of [1, 2]) {
  test(`attribution on a replica that lags credits as the reference does, seed ${seed}`, async (t) => {
    const found = await compare(t, { seed, hasBarriers: true })

    assert.deepEqual(found.differences, [])
    assert.ok(found.purchaseCount > 25 && found.staleCount > 15)
  })
}

test('the model bites: the same seed without barriers credits wrongly', async (t) => {
  const found = await compare(t, { seed: 1, hasBarriers: false })

  assert.ok(found.differences.length > 0)
})

test('reports on a replica that lags are those of a world without lag, from the first arrival to an erasure', async (t) => {
  const { faults, lineCount } = await playLagging(t, { seed: 3, hasBarriers: true })

  assert.deepEqual(faults, [])
  assert.ok(lineCount > 10, `${lineCount} lines`)
})

test('the model bites: the same world without barriers has wrong reports', async (t) => {
  const { faults } = await playLagging(t, { seed: 3, hasBarriers: false })

  assert.ok(faults.length > 0)
  t.diagnostic(faults.slice(0, 5).join('\n'))
})
