import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestErasure } from '../../src/erasure/erasures.ts'
import { readTouches } from '../../src/attribution/explain/touches.ts'
import type { Params, Warehouse } from '../../src/warehouse/warehouse.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

interface Call {
  readonly sql: string
  readonly params: Params
}

function recording(warehouse: Warehouse, calls: Call[]): Warehouse {
  return {
    ...warehouse,
    command: async (sql, params = {}) => {
      calls.push({ sql, params })
      await warehouse.command(sql, params)
    },
    rows: async (sql, params = {}) => {
      calls.push({ sql, params })
      return await warehouse.rows(sql, params)
    },
  }
}

test('a statement into which an identity is bound asks the server to keep it out of its log of queries', async (t) => {
  const calls: Call[] = []
  const warehouse = recording(await openTestWarehouse(t), calls)
  const [user, login] = ['a'.repeat(32), 'b'.repeat(32)]

  await requestErasure(warehouse, { publisherId: 10, identities: [user, login] })
  await readTouches(warehouse, {
    publisherId: 10,
    purchasedAtMs: Date.UTC(2026, 2, 2),
    identities: { user, login },
    crowdMax: 10,
  })

  const bound = calls.filter(({ params }) => Object.values(params).flat().includes(user))
  assert.equal(bound.length, 3)
  for (const { sql } of bound)
    assert.match(sql, /\nSETTINGS log_queries = 0$|\n +SETTINGS log_queries = 0$/)
})
