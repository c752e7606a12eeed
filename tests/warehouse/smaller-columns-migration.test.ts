// The upgrade of a warehouse with events to columns that take less room.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { knownMigrations, migrate, splitStatements } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openUnmigratedWarehouse } from '../helpers/test-warehouse.ts'

const migration = '0023-smaller-columns.sql'
const tables = ['ad_event', 'touchpoint', 'intake_event'] as const
const atMs = Date.UTC(2026, 2, 2, 12, 0, 0, 123)

/** As a program of before writes it, too. */
function anEvent(digit: string, receivedAtMs: number) {
  return {
    served_ad_id: digit.repeat(32),
    served_at_ms: atMs - 1_500,
    received_at_ms: receivedAtMs,
    kind: 'click',
    verdict: 'counted',
    publisher_id: 10,
    site_id: 101,
    market_id: 1,
    advertiser_id: 7,
    campaign_id: 70,
    ad_group_id: 700,
    gtin: '4006381333931',
    gtin_key: '04006381333931',
    group_id: '',
    user_identity: digit.repeat(32),
    login_identity: '',
    currency: 'EUR',
    charge: '0.25',
    shipped_at: '2026-03-02 12:00:01.000000',
  }
}

async function write(warehouse: Warehouse, ...rows: readonly object[]): Promise<void> {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await warehouse.insert('ad_event_in', Buffer.from(lines))
}

async function migrateToBefore(warehouse: Warehouse): Promise<void> {
  const known = await knownMigrations()
  await migrate(
    warehouse,
    known.filter((file) => file < migration)
  )
}

/** The receipt of each event, which every table tells. */
async function receipts(warehouse: Warehouse): Promise<readonly unknown[]> {
  return await Promise.all(
    tables.map((table) =>
      warehouse.rows(
        `SELECT lower(substring(hex(served_ad_id), 1, 1)) AS id, toUnixTimestamp64Milli(received_at) AS ms
         FROM ${table} FINAL ORDER BY id`
      )
    )
  )
}

async function details(warehouse: Warehouse): Promise<readonly unknown[]> {
  return await warehouse.rows(
    `SELECT lower(hex(served_ad_id)) AS id, toString(served_day) AS day, toUnixTimestamp64Milli(served_at) AS served,
       site_id, campaign_id, ad_group_id, gtin, gtin_key, toString(charge) AS charge, key_publisher_id
     FROM ad_event FINAL ORDER BY id`
  )
}

test('events of before keep their receipt and all that is read of them, also once parts of both forms are merged', async (t) => {
  const warehouse = openUnmigratedWarehouse(t)
  await migrateToBefore(warehouse)
  await write(warehouse, anEvent('a', atMs), anEvent('b', atMs + 20))
  await write(warehouse, anEvent('b', atMs + 10))
  const before = { receipts: await receipts(warehouse), details: await details(warehouse) }

  assert.equal((await migrate(warehouse))[0], migration)
  // An upgrade that was cut off is run again.
  await warehouse.command('DELETE FROM migration WHERE name = {migration:String}', { migration })
  await migrate(warehouse)

  assert.deepEqual(await receipts(warehouse), before.receipts)
  assert.deepEqual(await details(warehouse), before.details)
  await write(warehouse, anEvent('b', atMs + 5), anEvent('c', atMs + 30), anEvent('a', atMs + 40))
  const expected = [
    { id: 'a', ms: atMs },
    { id: 'b', ms: atMs + 5 },
    { id: 'c', ms: atMs + 30 },
  ]
  assert.deepEqual(await receipts(warehouse), [expected, expected, expected])
  for (const table of tables) await warehouse.command(`OPTIMIZE TABLE ${table} FINAL`)
  assert.deepEqual(await receipts(warehouse), [expected, expected, expected])
})

test('an event that a node ships between any two statements of the upgrade has its receipt', async (t) => {
  const warehouse = openUnmigratedWarehouse(t)
  await migrateToBefore(warehouse)
  const url = new URL(`../../src/warehouse/migrations/${migration}`, import.meta.url)
  const statements = splitStatements(readFileSync(url, 'utf8'))
  const expected: number[] = []

  for (const [index, statement] of statements.entries()) {
    await warehouse.command(statement)
    const serial = index.toString(16).padStart(32, '0')
    const own = { served_ad_id: serial, user_identity: serial }
    await write(warehouse, { ...anEvent('0', atMs + index), ...own })
    expected.push(atMs + index)
  }

  for (const table of tables) {
    const rows = await warehouse.rows<{ ms: number }>(
      `SELECT toUnixTimestamp64Milli(received_at) AS ms FROM ${table} FINAL ORDER BY ms`
    )
    assert.deepEqual(
      rows.map((row) => row.ms),
      expected,
      table
    )
  }
})
