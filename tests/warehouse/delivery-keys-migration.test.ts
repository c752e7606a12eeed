// The upgrade of a warehouse with deliveries to the schema that keeps how they came.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backfilled } from '../../src/spool/record.ts'
import { knownMigrations, migrate } from '../../src/warehouse/migrate.ts'
import { openUnmigratedWarehouse } from '../helpers/test-warehouse.ts'
import { aConversion, aReturn, aShipment, append, shipBatch } from '../helpers/shipment.ts'

const migration = '0018-delivery-keys.sql'
const columns = `transaction_id AS id, toString(verdict) AS verdict, toString(origin) AS origin,
  toString(key_kind) AS kind, key_id AS keyId, source_address AS address`
const tables = ['delivery', 'purchase_return'] as const

const zeros = '0'.repeat(32)
const common = {
  delivery_id: zeros,
  purchase_key: zeros,
  publisher_id: 10,
  received_at_ms: Date.UTC(2026, 2, 1),
  content_hash: zeros,
  line_gtin: ['1'],
  line_gtin_key: ['1'],
  line_quantity: [1],
  shipped_at: '2026-03-01 00:00:00.000000',
}
/** As the program of before writes them. */
const early = {
  delivery: (id: string, verdict: string) => ({
    ...common,
    verdict,
    transaction_id: id,
    site_id: 1,
    user_identity: '',
    login_identity: '',
    currency: 'EUR',
    line_group_id: [''],
    line_brand: [''],
    line_price: [1],
    line_value: ['1'],
    line_verdict: ['valid'],
    delivery_id: id.padEnd(32, '0'),
  }),
  purchase_return: (id: string, verdict: string) => ({
    ...common,
    verdict,
    transaction_id: id,
    return_key: zeros,
    return_id: 'r',
    delivery_id: id.padEnd(32, '0'),
  }),
}

test('deliveries of before keep their verdict, also those that the program of before writes beside the new one', async (t) => {
  const warehouse = openUnmigratedWarehouse(t)
  const known = await knownMigrations()
  await migrate(
    warehouse,
    known.filter((file) => file < migration)
  )
  const write = async (table: (typeof tables)[number], rows: readonly object[]) =>
    await warehouse.insert(
      `${table}_in`,
      Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    )
  for (const table of tables) {
    await write(table, [early[table]('a', 'valid'), early[table]('b', 'untrusted-source')])
  }

  await migrate(warehouse)
  // An upgrade that was cut off is run again.
  await warehouse.command('DELETE FROM migration WHERE name = {migration:String}', { migration })
  await migrate(warehouse)
  for (const table of tables) await write(table, [early[table]('c', 'too-late')])

  const none = { origin: 'unknown', kind: 'none', keyId: '', address: '' }
  for (const table of tables) {
    assert.deepEqual(await warehouse.rows(`SELECT ${columns} FROM ${table} FINAL ORDER BY id`), [
      { id: 'a', verdict: 'valid', ...none },
      { id: 'b', verdict: 'untrusted-source', ...none },
      { id: 'c', verdict: 'too-late', ...none },
    ])
  }
})

test('the address of a sender leaves 90 days after the receipt, and everything else stays', async (t) => {
  const { deps, warehouse, spool } = await aShipment(t)
  const dayMs = 86_400_000
  const ages = { old: 92, young: 88 }
  for (const [transactionId, days] of Object.entries(ages)) {
    const receivedAtMs = Date.now() - days * dayMs
    await append(spool, [
      aConversion({ transactionId, receivedAtMs }),
      aReturn({ transactionId, receivedAtMs }),
    ])
  }
  await append(spool, [aConversion({ transactionId: 'backfill', origin: backfilled })])
  await shipBatch(deps)

  for (const table of tables) {
    await warehouse.command(`OPTIMIZE TABLE ${table} FINAL`)
    const rows = await warehouse.rows<{ id: string; origin: string; address: string }>(
      `SELECT transaction_id AS id, toString(origin) AS origin, source_address AS address
       FROM ${table} FINAL WHERE transaction_id != 'backfill' ORDER BY id`
    )
    assert.deepEqual(rows, [
      { id: 'old', origin: 'live', address: '' },
      { id: 'young', origin: 'live', address: '198.51.100.7' },
    ])
  }
})
