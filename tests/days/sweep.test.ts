import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aClick, aWorld, anAd, readFigures } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const throughMs = Date.UTC(2026, 2, 14)
const figures = ['2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed']

async function sealAgain(world: World): Promise<void> {
  await world.warehouse.command(
    `INSERT INTO touched_span SELECT '2026-03-02 12:00:00', '2026-03-02 12:59:59', 1, now64(6) + 300`
  )
  const { sealedCount } = await sealBatch({
    warehouse: world.warehouse,
    markets: () => world.markets,
    settledThroughMs: () => throughMs,
    renewPauseMs: 0,
  })
  assert.ok(sealedCount > 0)
}

async function aSealedDay(world: World): Promise<void> {
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()
  await world.warehouse.command('TRUNCATE TABLE touched_span')
  await new Sweeper({ warehouse: world.warehouse, keepMs: 0 }).sweep()
}

/** Runs `before` whenever a report has its list of seals and is about to read their rows. */
function heldUp(warehouse: Warehouse, before: () => Promise<void>): Warehouse {
  return {
    ...warehouse,
    command: (sql, params) => warehouse.command(sql, params),
    rows: (sql, params) => warehouse.rows(sql, params),
    insert: (table, lines, columns) => warehouse.insert(table, lines, columns),
    close: () => warehouse.close(),
    async *stream(sql, params, signal) {
      await before()
      yield* warehouse.stream(sql, params, signal)
    },
  }
}

test('a report that is held up while its day is renewed and swept reads the list again', async (t) => {
  const world = await aWorld(t)
  await aSealedDay(world)
  let heldCount = 0
  const warehouse = heldUp(world.warehouse, async () => {
    heldCount += 1
    if (heldCount > 1) return
    await sealAgain(world)
    await new Sweeper({ warehouse: world.warehouse, keepMs: 0 }).sweep()
  })

  const read = await readFigures(warehouse, world.markets)

  assert.deepEqual(read, figures)
  assert.equal(heldCount, 2)
})

test('a report that is held up again and again fails with 503 and never without rows', async (t) => {
  const world = await aWorld(t)
  await aSealedDay(world)
  const warehouse = heldUp(world.warehouse, async () => {
    await sealAgain(world)
    await new Sweeper({ warehouse: world.warehouse, keepMs: 0 }).sweep()
  })

  await assert.rejects(readFigures(warehouse, world.markets), (error) => {
    assert.ok(error instanceof ServiceError && error.code === 'REPORT_OVERTAKEN')
    assert.equal(error.kind.status, 503)
    return true
  })
})

test('a revision goes an hour after its successor was sealed, however old its own reading is', async (t) => {
  const world = await aWorld(t)
  await aSealedDay(world)
  const count = async () => {
    const [row] = await world.warehouse.rows<{ count: number }>(
      `SELECT uniqExact(revision) AS count FROM product_day WHERE day = '2026-03-02'`
    )
    return row?.count
  }
  // As if the first reading had begun a day ago.
  await world.warehouse.command(
    `ALTER TABLE sealed_day UPDATE sealed_at = sealed_at - 86400 WHERE 1 SETTINGS mutations_sync = 1`
  )

  await sealAgain(world)
  await new Sweeper(world).sweep()
  const atOnce = await count()
  await world.warehouse.command(
    `ALTER TABLE sealed_day UPDATE sealed_at = sealed_at - 3601 WHERE 1 SETTINGS mutations_sync = 1`
  )
  await new Sweeper(world).sweep()

  assert.equal(atOnce, 2)
  assert.equal(await count(), 1)
  assert.deepEqual(await world.figures(), figures)
})

test('no statement that deletes names another table, and one looks at the months of its keys alone', async (t) => {
  const world = await aWorld(t)
  await aSealedDay(world)
  await sealAgain(world)
  const commands: string[] = []
  const warehouse: Warehouse = {
    ...heldUp(world.warehouse, () => Promise.resolve()),
    command: (sql, params) => {
      commands.push(sql)
      return world.warehouse.command(sql, params)
    },
  }

  const sweeper = new Sweeper({ warehouse, keepMs: 0 })
  await sweeper.sweep()
  const deletions = [...commands]
  commands.length = 0
  await sweeper.sweep()

  assert.equal(deletions.length, 2)
  assert.ok(deletions.every((sql) => sql.startsWith('DELETE') && !sql.includes('SELECT')))
  assert.match(deletions[0] ?? '', /^DELETE FROM product_day IN PARTITION ID '202603'/)
  assert.deepEqual(commands, [], 'a sweep with nothing to sweep deletes nothing')
})

test('what a sweep has removed is not looked for again, by this process or the next', async (t) => {
  const world = await aWorld(t)
  await aSealedDay(world)
  await sealAgain(world)
  // A reading of this revision ended halfway.
  await world.warehouse.command(
    `INSERT INTO rollup_begun SELECT 7, '2026-03-02', '2026-03-02', now64(6) - 90000`
  )
  await world.warehouse.command(
    `INSERT INTO product_day SELECT * REPLACE (7 AS revision) FROM product_day LIMIT 1`
  )
  const stored = async (table: string) => {
    const rows = await world.warehouse.rows<{ revision: string }>(
      `SELECT DISTINCT toString(revision) AS revision FROM ${table} ORDER BY revision`
    )
    return rows.map(({ revision }) => revision)
  }
  const before = await stored('rollup_begun')

  await new Sweeper({ warehouse: world.warehouse, keepMs: 0 }).sweep()

  const sealed = await stored('sealed_day')
  assert.ok(before.includes('7') && before.length >= 3)
  assert.ok(!(await stored('product_day')).includes('7'))
  assert.deepEqual(
    (await stored('rollup_begun')).filter((revision) => !sealed.includes(revision)),
    []
  )
})
