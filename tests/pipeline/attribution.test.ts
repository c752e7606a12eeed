import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAttribution } from '../helpers/compare-attribution.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

// Any number of histories under any seed: scripts/compare-attribution.ts.
const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)

test('the SQL credits every line of 2,000 histories as the reference does, whatever the order of arrival', async (t) => {
  const warehouse = await openTestWarehouse(t)

  const comparison = await compareAttribution({
    warehouse,
    seed,
    historyCount: 2_000,
    crowdMax: 5_000,
  })

  t.diagnostic(`seed ${seed}: ${comparison.purchaseCount} purchases, ${comparison.lineCount} lines`)
  assert.deepEqual(comparison.differences.slice(0, 3), [])
})

test('identities of crowds join nobody, in the SQL as in the reference', async (t) => {
  const warehouse = await openTestWarehouse(t)

  const comparison = await compareAttribution({
    warehouse,
    seed: seed + 7,
    historyCount: 400,
    crowdMax: 2,
  })

  assert.deepEqual(comparison.differences.slice(0, 3), [])
})
