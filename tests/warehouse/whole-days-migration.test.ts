// The upgrade of a warehouse with seals that do not say whether their days are whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLatestSeals } from '../../src/days/seals.ts'
import { knownMigrations, migrate } from '../../src/warehouse/migrate.ts'
import { openUnmigratedWarehouse } from '../helpers/test-warehouse.ts'

const migration = '0024-whole-days.sql'
const markets = [{ id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }]

/** As a program of before writes it. */
function aSeal(day: string): Buffer {
  const seal = {
    day,
    unit: 1,
    from_at: `${day} 00:00:00.000`,
    to_at: `${day} 23:59:59.999`,
    revision: '1',
    read_at: '2026-03-10 00:00:00.000000',
    sealed_at: '2026-03-10 00:00:00.000000',
    definition: 'Europe/Berlin EUR',
    rollup_version: 1,
    unknown_ids: '',
    rates: '',
  }
  return Buffer.from(`${JSON.stringify(seal)}\n`)
}

test('a seal of a program of before is not whole, whether it was written before the upgrade or after it', async (t) => {
  const warehouse = openUnmigratedWarehouse(t)
  const known = await knownMigrations()
  await migrate(
    warehouse,
    known.filter((file) => file < migration)
  )
  await warehouse.insert('sealed_day', aSeal('2026-03-02'))

  await migrate(warehouse)
  // An upgrade that was cut off is run again.
  await warehouse.command('DELETE FROM migration WHERE name = {migration:String}', { migration })
  await migrate(warehouse)
  await warehouse.insert('sealed_day', aSeal('2026-03-03'))

  const range = { first: '2026-03-01', last: '2026-03-31' }
  const seals = await readLatestSeals(warehouse, { markets, ...range })
  assert.deepEqual(
    seals.map(({ day, isWhole, isValid }) => ({ day, isWhole, isValid })),
    [
      { day: '2026-03-02', isWhole: 0, isValid: true },
      { day: '2026-03-03', isWhole: 0, isValid: true },
    ]
  )
})
