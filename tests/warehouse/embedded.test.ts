import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { embeddedSessions, openEmbeddedWarehouse } from '../../src/warehouse/embedded.ts'
import { isBeyondLimit, passingCodes, warehouseFailure } from '../../src/warehouse/refusal.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { warehouseContract } from '../contracts/warehouse.contract.ts'
import { aWarehouseFolder } from '../helpers/warehouse-folder.ts'

// The engine reads it once, when it starts; far from UTC, so that a zone that leaks in is seen.
process.env['TZ'] = 'America/New_York'

warehouseContract({
  name: 'embedded',
  open: async () => {
    await Promise.resolve()
    const path = mkdtempSync(join(tmpdir(), 'shelftrace-warehouse-'))
    const warehouse = openEmbeddedWarehouse({ path })
    return {
      warehouse,
      dispose: async () => {
        await warehouse.close()
        rmSync(path, { recursive: true, force: true })
      },
    }
  },
})

test('the machine of these tests is not in UTC, else the law of instants says nothing', async (t) => {
  const warehouse = aWarehouseFolder(t).open()

  const [row] = await warehouse.rows('SELECT serverTimezone() AS zone')

  assert.deepEqual(row, { zone: 'America/New_York' })
})

test('the codes that pass are those of the engine by their names', async (t) => {
  const warehouse = aWarehouseFolder(t).open()
  const codes = Object.values(passingCodes)

  const rows = await warehouse.rows<{ name: string }>(
    'SELECT errorCodeToName(arrayJoin({codes:Array(UInt32)})) AS name',
    { codes }
  )

  assert.deepEqual(
    rows.map((row) => row.name),
    Object.keys(passingCodes)
  )
})

test('what a row causes is refused, and what passes is not', () => {
  // Unparsable text, number, date, unknown field, NULL, size of fixed text, decimal too large.
  const ofRows = [6, 27, 38, 41, 72, 117, 349, 131, 19, 69, 407, 691]

  for (const code of ofRows) {
    assert.equal(warehouseFailure('insert', code, null).code, 'WAREHOUSE_REFUSED', `${code}`)
  }
  for (const code of [...Object.values(passingCodes), undefined]) {
    assert.equal(warehouseFailure('insert', code, null).code, 'WAREHOUSE_UNAVAILABLE', `${code}`)
  }
})

test('a folder that another process has open is refused, and the process is named', async (t) => {
  const { path, open } = aWarehouseFolder(t)
  const warehouse = open()

  assert.equal(
    await openElsewhere(path),
    `WAREHOUSE_NOT_OPENED: the warehouse in ${path} cannot be opened: another process has it (${process.pid}); end that one first`
  )

  assert.deepEqual(await warehouse.rows('SELECT 1 AS one'), [{ one: 1 }])
})

test('a folder is free for another process once it is closed', async (t) => {
  const { path, open } = aWarehouseFolder(t)
  const warehouse = open()
  await warehouse.command('CREATE TABLE kept (n Int32) ENGINE = MergeTree ORDER BY n')
  await warehouse.close()

  assert.equal(await openElsewhere(path), 'opened with 1 tables')
})

test('a folder whose definition of a table is damaged is told to be damaged, not to be in use', async (t) => {
  const { path, open } = aWarehouseFolder(t)
  const warehouse = open()
  await warehouse.command('CREATE TABLE kept (n Int32) ENGINE = MergeTree ORDER BY n')
  await warehouse.close()
  const store = join(path, 'store')
  const definition = readdirSync(store, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('kept.sql')
  )
  assert.ok(definition !== undefined)
  truncateSync(join(store, definition), 20)

  assert.match(
    await openElsewhere(path),
    /^WAREHOUSE_NOT_OPENED: .*: ClickHouse failed, and says why in the lines above; if .* is damaged, .*restore/u
  )
})

test('a path that cannot be a folder is refused at opening', (t) => {
  const path = join(aWarehouseFolder(t).path, 'file')
  writeFileSync(path, '')

  assert.throws(() => openEmbeddedWarehouse({ path: join(path, 'below') }), {
    code: 'WAREHOUSE_NOT_OPENED',
    message: /cannot be opened: a part of the path is not a folder \(ENOTDIR\)/u,
  })
})

test('rows are there after closing and opening again', async (t) => {
  const { open } = aWarehouseFolder(t)
  const first = open()
  await first.command('CREATE TABLE kept (n Int32) ENGINE = MergeTree ORDER BY n')
  await first.command('INSERT INTO kept VALUES (7)')
  await first.close()

  const second = open()

  assert.deepEqual(await second.rows('SELECT n FROM kept'), [{ n: 7 }])
})

test('close waits for the calls that run and those that wait for a session', async (t) => {
  const warehouse = aWarehouseFolder(t).open()
  const calls = Array.from({ length: 3 * embeddedSessions }, (_, n) =>
    warehouse.rows('SELECT {n:UInt8} AS n, sleep(0.1) AS slept', { n })
  )

  await warehouse.close()

  const answers = await Promise.all(calls)
  assert.deepEqual(
    answers.flat(),
    answers.map((_, n) => ({ n, slept: 0 }))
  )
})

test('a call after closing is refused and does not hang', async (t) => {
  const warehouse = aWarehouseFolder(t).open()
  await warehouse.close()

  await assert.rejects(warehouse.rows('SELECT 1'), { code: 'WAREHOUSE_UNAVAILABLE' })
  await assert.rejects(warehouse.insert('audit', Buffer.from('{}\n')), {
    code: 'WAREHOUSE_UNAVAILABLE',
  })
})

test('a stream that waits for a session ends when it is aborted', async (t) => {
  const warehouse = aWarehouseFolder(t).open()
  const sql = 'SELECT number FROM numbers(100000000)'
  const held = Array.from({ length: embeddedSessions }, () => warehouse.stream(sql))
  const readers = held.map((stream) => stream[Symbol.asyncIterator]())
  for (const reader of readers) await reader.next()
  const controller = new AbortController()

  const waiting = warehouse.stream(sql, {}, controller.signal)[Symbol.asyncIterator]()
  const next = waiting.next()
  controller.abort()

  await assert.rejects(next, { code: 'WAREHOUSE_UNAVAILABLE' })
  for (const reader of readers) await reader.return?.()
  assert.deepEqual(await warehouse.rows('SELECT 1 AS one'), [{ one: 1 }])
})

test('readers who hold every session for reports hold up neither the pipeline nor look-ups', async (t) => {
  const lanes = aWarehouseFolder(t).openLanes()
  const sql = 'SELECT number FROM numbers(100000000)'
  const readers = Array.from({ length: 2 * embeddedSessions }, () =>
    lanes.reports.stream(sql)[Symbol.asyncIterator]()
  )
  const reading = readers.map((reader) => reader.next())
  await Promise.race(reading)

  await lanes.pipeline.command('CREATE TABLE seen (n Int32) ENGINE = MergeTree ORDER BY n')
  await lanes.pipeline.command('INSERT INTO seen VALUES (7)')

  assert.deepEqual(await lanes.lookups.rows('SELECT n FROM seen'), [{ n: 7 }])
  assert.deepEqual(await lanes.pipeline.rows('SELECT n FROM seen'), [{ n: 7 }])
  for (const reader of readers) void reader.return?.()
  await Promise.all(reading)
})

test('a statement of the pipeline has half of the cores, those of reports have what ClickHouse gives', async (t) => {
  const lanes = aWarehouseFolder(t).openLanes()
  const ofPipeline = await Promise.all(Array.from({ length: 5 }, () => threadsOf(lanes.pipeline)))

  assert.deepEqual(
    new Set(ofPipeline),
    new Set([Math.max(1, Math.floor(availableParallelism() / 2))])
  )
  assert.equal(await threadsOf(lanes.reports), await threadsOf(lanes.lookups))
})

async function threadsOf(lane: Warehouse) {
  const [row] = await lane.rows<{ count: number }>(`SELECT getSetting('max_threads') AS count`)
  return row?.count
}

for (const { limit, clickhouseCode, sql } of [
  {
    limit: 'memory',
    clickhouseCode: 241,
    sql: 'SELECT length(groupArray(number)) AS size FROM numbers({rowCount:UInt64})',
  },
  {
    limit: 'time',
    clickhouseCode: 159,
    sql: 'SELECT count() AS count FROM numbers({rowCount:UInt64}) WHERE cityHash64(number) = 0',
  },
]) {
  test(`a statement that reaches its limit of ${limit} fails by itself and says so`, async (t) => {
    const secondsMax = limit === 'time' ? 1 : 3_600
    const statementLimits = { memoryBytesMax: 50_000_000, secondsMax }
    const warehouse = aWarehouseFolder(t).open({ statementLimits })
    const tooMuch = { rowCount: limit === 'memory' ? 100_000_000 : 1_000_000_000_000 }
    await warehouse.command('CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n')
    const calls = [
      () => warehouse.rows(sql, tooMuch),
      () => warehouse.command(`INSERT INTO kept ${sql}`, tooMuch),
      async () => {
        for await (const _ of warehouse.stream(sql, tooMuch));
      },
    ]

    for (const call of calls) {
      await assert.rejects(call(), (error) => {
        assert.ok(isBeyondLimit(error))
        assert.deepEqual(error.details['limit'], limit)
        assert.equal(error.details['clickhouseCode'], clickhouseCode)
        return true
      })
    }

    assert.deepEqual(await warehouse.rows('SELECT count() AS count FROM kept'), [{ count: 0 }])
  })
}

test('a statement may take half of the memory of the machine', async (t) => {
  const warehouse = aWarehouseFolder(t).open()

  const rows = await warehouse.rows<{ value: string }>(
    `SELECT value FROM system.settings WHERE name IN ('max_memory_usage', 'max_execution_time') ORDER BY name`
  )

  const [seconds, bytes] = rows.map(({ value }) => Number(value))
  assert.equal(seconds, 3_600)
  assert.ok(bytes !== undefined && bytes > 0 && bytes <= totalmem() / 2)
})

/** What a process of its own meets that opens the folder. */
async function openElsewhere(path: string): Promise<string> {
  const adapter = new URL('../../src/warehouse/embedded.ts', import.meta.url)
  const script = `
    const { openEmbeddedWarehouse } = await import(${JSON.stringify(adapter.href)})
    try {
      const warehouse = openEmbeddedWarehouse({ path: ${JSON.stringify(path)} })
      const tables = await warehouse.rows('SHOW TABLES')
      await warehouse.close()
      console.log('opened with ' + tables.length + ' tables')
    } catch (error) {
      console.log(error.code + ': ' + error.message)
    }`
  const flags = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, flags)
  return stdout.trim()
}

test('what runs a few times is not compiled, and what runs all the time is', async (t) => {
  assert.equal(await countCompiled(t, {}), 0)
  assert.ok((await countCompiled(t, { runsBeforeCompiled: 10 })) > 0)
})

/** How many functions 20 runs of a statement compile. */
async function countCompiled(
  t: TestContext,
  options: { readonly runsBeforeCompiled?: number }
): Promise<number> {
  const { path } = aWarehouseFolder(t)
  const warehouse = openEmbeddedWarehouse({ ...options, path })
  const before = await compiledCount(warehouse)
  for (let run = 0; run < 20; run += 1) {
    await warehouse.rows('SELECT sum(if(number > 10, number * 3 + 1, number + 2)) FROM numbers(9)')
  }
  const after = await compiledCount(warehouse)
  await warehouse.close()
  return after - before
}

async function compiledCount(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.rows<{ count: number }>(
    "SELECT sum(value) AS count FROM system.events WHERE event = 'CompileFunction'"
  )
  return row?.count ?? 0
}
