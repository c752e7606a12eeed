import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { compareAttribution } from '../helpers/compare-attribution.ts'
import { compiledEarly, openTestWarehouse } from '../helpers/test-warehouse.ts'

// Any number of histories under any seed: scripts/compare-attribution.ts.
const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)

test('the SQL credits every line of 2,000 histories as the reference does, whatever the order of arrival', async (t) => {
  const warehouse = await openTestWarehouse(t, compiledEarly)

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

for (const crowdMax of [2, 5_000]) {
  test(`the SQL credits as the reference does also where no intermediate result is kept, with crowds above ${crowdMax}`, async (t) => {
    const warehouse = withoutKeeping(await openTestWarehouse(t))

    const comparison = await compareAttribution({
      warehouse,
      seed: seed + crowdMax,
      historyCount: 300,
      crowdMax,
      // Each takes a second of CPU for the analysis of a statement whose parts stand in it many times.
      arrivalBatches: 2,
    })

    assert.deepEqual(comparison.differences.slice(0, 3), [])
  })
}

/** As on a server that forbids the setting of `AS MATERIALIZED`: their text is put in place. */
function withoutKeeping(warehouse: Warehouse): Warehouse {
  return {
    ...warehouse,
    command: (sql, params) => warehouse.command(putInPlace(sql), params),
    rows: (sql, params) => warehouse.rows(putInPlace(sql), params),
  }
}

function putInPlace(sql: string): string {
  if (!sql.includes(' AS MATERIALIZED ')) return sql
  return `${sql}${/\nSETTINGS [^)]+$/u.test(sql) ? ',' : '\nSETTINGS'} enable_materialized_cte = 0`
}
