// Every statement that the product sends, tried on replicated tables: those of ClickHouse's Keeper for tests, which are
// read-only, so that a statement ends once it was analysed. scripts/test.ts runs this file after all others, which
// record what the product sends to their warehouses.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrate } from '../../src/warehouse/migrate.ts'
import { insertTables } from '../../src/warehouse/warehouse.ts'
import type { InsertTable, Warehouse } from '../../src/warehouse/warehouse.ts'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import { shapeOf } from '../helpers/recorder.ts'
import type { RecordedStatement } from '../helpers/recorder.ts'
import { openReplicatedSchemas, refusalOf } from '../helpers/replicated-schema.ts'

const folder = process.env['TEST_RECORDED_STATEMENTS']
const skip = folder === undefined ? 'needs what the other tests record: run npm test' : false

/** Of one place, these differ in their conditions. A kind of table refuses none of them that it does not refuse alike. */
const readsPerPlaceMax = 4

const statements = folder === undefined ? [] : readRecorded(folder)

test('replicated tables take every statement that the product sends', { skip }, async (t) => {
  const standIn = await startClickHouseStandIn({ hasKeeper: true })
  t.after(() => standIn.close())
  const { twin, copy } = await openReplicatedSchemas(t, standIn)
  await migrate(twin)
  const replicated = await copy()
  // It would otherwise be tried again for minutes.
  await standIn.limit({ insert_keeper_max_retries: '0' })
  const refused: string[] = []

  for (const statement of statements) {
    const refusal = await refusalOf(() => send(replicated, statement))
    if (refusal !== null)
      refused.push(`${statement.from} ${statement.sql.slice(0, 200)}: ${refusal}`)
  }

  assert.deepEqual(refused, [])
})

test(
  'the statements that were tried include one of every place in the product that writes',
  { skip },
  () => {
    if (process.env['TEST_ALL_FILES'] === undefined) return
    const tried = new Set(statements.map(({ from }) => from))

    const forgotten = writingPlaces().filter((place) => !tried.has(place))

    assert.deepEqual(forgotten, [], 'no test sends these to a warehouse of tests/helpers')
  }
)

test('a statement that replicated tables refuse is found', { skip }, async (t) => {
  const standIn = await startClickHouseStandIn({ hasKeeper: true })
  t.after(() => standIn.close())
  const { twin, copy } = await openReplicatedSchemas(t, standIn)
  await twin.command('CREATE TABLE kept (id UInt32) ENGINE = MergeTree ORDER BY id')
  const replicated = await copy()

  const refusal = await refusalOf(() =>
    replicated.command('DELETE FROM kept WHERE id NOT IN (SELECT id FROM kept)')
  )

  assert.match(refusal ?? '', /Code: 36/)
})

function readRecorded(path: string): readonly RecordedStatement[] {
  const byShape = new Map<string, RecordedStatement>()
  for (const file of readdirSync(path)) {
    for (const line of readFileSync(join(path, file), 'utf8').split('\n')) {
      if (line === '') continue
      // The recorder wrote it.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const statement = JSON.parse(line) as RecordedStatement
      byShape.set(`${statement.from} ${shapeOf(statement.sql)}`, statement)
    }
  }
  const counts = new Map<string, number>()
  return [...byShape.values()].filter(({ kind, from }) => {
    if (kind === 'command' || kind === 'insert') return true
    const count = (counts.get(from) ?? 0) + 1
    counts.set(from, count)
    return count <= readsPerPlaceMax
  })
}

async function send(warehouse: Warehouse, statement: RecordedStatement): Promise<void> {
  const { kind, params, rows } = statement
  // The tables are empty here, and an erasure that is not known ends its statements before they are analysed.
  const sql = statement.sql.replaceAll('throwIf(count() = 0', 'throwIf(count() = 1')
  if (kind === 'command') await warehouse.command(sql, params)
  else if (kind === 'insert') {
    assert.ok(isInsertTable(sql))
    await warehouse.insert(sql, Buffer.from(rows?.line ?? ''), rows?.columns ?? undefined)
  } else await warehouse.rows(sql, params)
}

function isInsertTable(name: string): name is InsertTable {
  return insertTables.some((table) => table === name)
}

/** Adapters, migrations (tests/warehouse/topology.test.ts) and what runs on a warehouse in process alone. */
const others =
  /^(?:cli|backup|tracing)\/|^warehouse\/(?:embedded|server|server-lanes|replica-sync|migrate)\.ts$/

function writingPlaces(): readonly string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => file.endsWith('.ts') && !others.test(file))
    .flatMap((file) =>
      readFileSync(join('src', file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /warehouse\.(?:command|insert)\(|^\s*\.(?:command|insert)\(/u.test(line)
            ? [`src/${file}:${index + 1}`]
            : []
        )
    )
}
