import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  knownMigrations,
  migrationTableSql,
  readMigration,
  splitStatements,
} from '../../src/warehouse/migrate.ts'
import { renderDdl } from '../../src/warehouse/topology.ts'
import { warehouseTables } from '../../src/warehouse/warehouse.ts'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import { openReplicatedSchemas, refusalOf } from '../helpers/replicated-schema.ts'

const files = await knownMigrations()

function fileText(file: string): string {
  return readFileSync(`src/warehouse/migrations/${file}`, 'utf8')
}

test('on a single server and in Cloud every migration runs as its file has it, byte for byte', async () => {
  for (const topology of ['single', 'cloud'] as const) {
    for (const file of files) {
      assert.deepEqual(await readMigration(file, topology), splitStatements(fileText(file)))
    }
    assert.equal(renderDdl(migrationTableSql, topology), migrationTableSql)
  }
})

test('on a cluster every table that keeps rows gets a replicated engine, and nothing else changes', async () => {
  const changed: string[] = []
  for (const file of files) {
    const plain = splitStatements(fileText(file))
    const rendered = await readMigration(file, 'cluster')
    assert.equal(rendered.length, plain.length)
    for (const [index, statement] of rendered.entries()) {
      const before = plain[index] ?? ''
      assert.equal(statement.replace('ENGINE = Replicated', 'ENGINE = '), before)
      const [, table = ''] = /^CREATE TABLE IF NOT EXISTS (\w+)/u.exec(before) ?? []
      if (statement !== before) changed.push(table)
      else assert.ok(table === '' || before.endsWith('ENGINE = Null'), before)
    }
  }

  assert.match(
    renderDdl(migrationTableSql, 'cluster'),
    /ENGINE = ReplicatedReplacingMergeTree ORDER/
  )
  assert.deepEqual([...changed, 'migration'].toSorted(), [...warehouseTables])
})

test('ClickHouse takes every statement of every migration for replicated tables', async (t) => {
  const standIn = await startClickHouseStandIn({ hasKeeper: true })
  t.after(() => standIn.close())
  const { twin, empty, copy } = await openReplicatedSchemas(t, standIn)
  // It would otherwise be tried again for minutes.
  await standIn.limit({ insert_keeper_max_retries: '0' })
  const tables = await empty()
  const refused: string[] = []
  assert.equal(await refusalOf(() => tables.command(renderDdl(migrationTableSql, 'cluster'))), null)

  for (const file of files) {
    const plain = splitStatements(fileText(file))
    for (const [index, statement] of (await readMigration(file, 'cluster')).entries()) {
      // A copy for each, of the tables as they are by now in the twin, where they can be altered.
      const isTable = statement.startsWith('CREATE TABLE')
      const schema = isTable ? tables : await copy(statement)
      const refusal = await refusalOf(() => schema.command(statement))
      if (refusal !== null) refused.push(`${file} ${statement.slice(0, 80)}: ${refusal}`)
      await twin.command(plain[index] ?? '')
    }
  }

  assert.deepEqual(refused, [])
})
