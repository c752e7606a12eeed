// The laws of the warehouse port. Both adapters run all of them: the same SQL means the same thing
// in process and on a server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/warehouse/migrate.ts'
import { warehouseTables } from '../../src/warehouse/warehouse.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { bindingLaws } from './warehouse-binding-laws.ts'
import type { Laws } from './warehouse-law.ts'
import { readingLaws } from './warehouse-reading-laws.ts'
import { writingLaws } from './warehouse-writing-laws.ts'

export interface OpenWarehouse {
  readonly warehouse: Warehouse
  readonly dispose: () => Promise<void>
}

interface WarehouseContract {
  readonly name: string
  /** A warehouse on an empty database of its own. */
  readonly open: () => Promise<OpenWarehouse>
  /** Why the suite cannot run here. */
  readonly skip?: string | undefined
}

export function warehouseContract({ name, open, skip }: WarehouseContract): void {
  const laws = { ...schemaLaws, ...bindingLaws, ...readingLaws, ...writingLaws }
  for (const [guarantee, run] of Object.entries(laws)) {
    test(`${name}: ${guarantee}`, { skip: skip ?? false }, async (t) => {
      const { warehouse, dispose } = await open()
      t.after(dispose)
      await run(warehouse)
    })
  }
}

const schemaLaws: Laws = {
  'migrating twice equals migrating once': migratesOnce,
  'two engines that migrate at once make one schema': migratesAtOnce,
  'a migration that was cut off is finished by the next': finishesMigration,
  'a schema of a newer version is refused': refusesNewerSchema,
  'every table that stores events, figures or settings syncs its parts to disk': syncsParts,
  'a barrier can name every table that stores rows, and no other': namesTables,
}

async function migratesOnce(warehouse: Warehouse): Promise<void> {
  const first = await migrate(warehouse)
  const schema = await schemaOf(warehouse)

  const second = await migrate(warehouse)

  assert.ok(first.length > 0)
  assert.deepEqual(second, [])
  assert.deepEqual(await schemaOf(warehouse), schema)
}

async function migratesAtOnce(warehouse: Warehouse): Promise<void> {
  await Promise.all([migrate(warehouse), migrate(warehouse)])

  assert.deepEqual(await migrate(warehouse), [])
  assert.ok((await schemaOf(warehouse)).length > 10)
}

async function finishesMigration(warehouse: Warehouse): Promise<void> {
  for (const statementsMax of [2, 5, 11]) {
    await assert.rejects(migrate(cutOff(warehouse, statementsMax)), /cut off/u)
  }

  await migrate(warehouse)

  const names = new Set((await schemaOf(warehouse)).map((table) => table.name))
  for (const expected of ['ad_event', 'ad_event_view', 'set_aside', 'audit']) {
    assert.ok(names.has(expected), expected)
  }
  assert.deepEqual(await migrate(warehouse), [])
}

async function refusesNewerSchema(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)
  await warehouse.command(`INSERT INTO migration (name) VALUES ('9999-later.sql')`)

  await assert.rejects(migrate(warehouse), { code: 'CONFIG_INVALID', message: /9999-later/u })
}

async function syncsParts(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)

  const stored = (await schemaOf(warehouse)).filter((table) => table.engine.endsWith('MergeTree'))

  assert.ok(stored.length > 10)
  // Nodes write every ten seconds that they are there.
  for (const table of stored.filter(({ name }) => name !== 'node_seen')) {
    assert.match(table.sql, /fsync_after_insert = 1/u, table.name)
    assert.match(table.sql, /fsync_part_directory = 1/u, table.name)
  }
}

async function namesTables(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)

  const stored = (await schemaOf(warehouse)).filter((table) => table.engine.endsWith('MergeTree'))

  assert.deepEqual(
    [...warehouseTables],
    stored.map((table) => table.name)
  )
  await warehouse.barrier(warehouseTables)
}

interface Table {
  readonly name: string
  readonly engine: string
  readonly sql: string
}

async function schemaOf(warehouse: Warehouse): Promise<Table[]> {
  return await warehouse.rows<Table>(
    `SELECT name, engine, create_table_query AS sql FROM system.tables
     WHERE database = currentDatabase() ORDER BY name`
  )
}

/** Fails like a process that is killed: after so many statements, none gets through. */
function cutOff(warehouse: Warehouse, statementsMax: number): Warehouse {
  let statementCount = 0
  return {
    ...warehouse,
    command: async (sql, params) => {
      statementCount += 1
      if (statementCount > statementsMax) throw new Error('cut off')
      await warehouse.command(sql, params)
    },
  }
}
