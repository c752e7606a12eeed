// The upgrade of a database with voids to the overlay of judgements, beside a node of the version before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { emptySnapshot } from '../../src/catalog/snapshot.ts'
import { createExplainer } from '../../src/attribution/explain/explain.ts'
import { unvoidDelivery, voidDelivery } from '../../src/attribution/void-delivery.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import type { HistoryDelivery } from '../helpers/history.ts'
import { aPurchase } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const migration = '0019-judgements.sql'
const atMs = Date.UTC(2026, 2, 2, 12)
const id = (digit: string) => digit.repeat(32)

function bought(transactionId: string, digits: string): readonly HistoryDelivery[] {
  return digits
    .split('')
    .map((digit, index) => aPurchase({ atMs: atMs + index, deliveryId: id(digit), transactionId }))
}

/** As the version before wrote a void. */
async function voidAsBefore(warehouse: Warehouse, deliveryId: string): Promise<void> {
  await warehouse.command(
    `INSERT INTO delivery_void SELECT purchase_key, delivery_id, now64(6) FROM delivery
     WHERE delivery_id = unhex({deliveryId:String})`,
    { deliveryId }
  )
}

/** As the version before read voids. */
async function voidsAsBefore(warehouse: Warehouse): Promise<readonly string[]> {
  const rows = await warehouse.rows<{ id: string }>(
    'SELECT DISTINCT lower(hex(delivery_id)) AS id FROM delivery_void ORDER BY id LIMIT 100'
  )
  return rows.map((row) => row.id)
}

async function countedOf(warehouse: Warehouse, transactionId: string) {
  const explained = await createExplainer({ warehouse, settleMs: 0, catalog: () => emptySnapshot })(
    {
      publisherId: 10,
      transactionId,
    }
  )
  return explained?.countedDeliveryId
}

async function withoutOverlay(warehouse: Warehouse): Promise<void> {
  const views = [
    'delivery_judgement_view',
    'delivery_void_by_judgement',
    'delivery_judgement_by_void',
  ]
  for (const table of [...views, 'delivery_judgement', 'delivery_judgement_in']) {
    await warehouse.command(`DROP TABLE ${table}`)
  }
  await warehouse.command('DELETE FROM migration WHERE name = {migration:String}', { migration })
}

test('voids of before, and those that a node of the version before writes meanwhile, hold after the upgrade', async (t) => {
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 0).ship([...bought('old', '12'), ...bought('beside', '34')])
  await withoutOverlay(warehouse)
  await voidAsBefore(warehouse, id('1'))

  assert.deepEqual(await migrate(warehouse), [migration])
  await voidAsBefore(warehouse, id('3'))
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);

  assert.equal(await countedOf(warehouse, 'old'), id('2'))
  assert.equal(await countedOf(warehouse, 'beside'), id('4'))
})

test('a node of the version before reads what this one voids, and running the migration again changes no judgement', async (t) => {
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 0).ship([...bought('one', '12'), ...bought('two', '34')])
  const purchase = { publisherId: 10, transactionId: 'one', deliveryId: id('1') }

  await voidDelivery(warehouse, purchase)
  const other = { ...purchase, transactionId: 'two', deliveryId: id('3') }
  await voidDelivery(warehouse, other)
  await unvoidDelivery(warehouse, other)
  await warehouse.command('DELETE FROM migration WHERE name = {migration:String}', { migration })
  await migrate(warehouse)

  assert.deepEqual((await voidsAsBefore(warehouse)).slice(0, 1), [id('1')])
  assert.equal(await countedOf(warehouse, 'one'), id('2'))
  assert.equal(await countedOf(warehouse, 'two'), id('3'), 'a void that was taken back stays so')
})
