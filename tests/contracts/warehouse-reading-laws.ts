import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ServiceError } from '../../src/errors.ts'
import { parseRows } from '../../src/warehouse/warehouse.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { callsBeyondPool, createScratch, isRefusal, readAll } from './warehouse-law.ts'
import type { Laws } from './warehouse-law.ts'

/** How rows come out. */
export const readingLaws: Laws = {
  'a long statement holds up no other call': runsBesideLong,
  'more calls than sessions or connections all get their answer': answersAll,
  'rows and stream give the same values': agreesOnRows,
  'a stream of 300,000 rows is complete, in order and flat in memory': streamsFlat,
  'a block of a stream holds whole lines, and stays as it is when others are read': keepsBlocks,
  'a stream without rows ends well': streamsNothing,
  'a stream that fails in the middle throws and never ends well': throwsInMiddle,
  'leaving streams early frees what they held': leavesEarly,
  'an abort ends a stream with an error': aborts,
  'a signal that was aborted before starts nothing': abortsBefore,
  'a refused statement tells the code of the engine and leaves the warehouse usable': refuses,
  'an outer join gives NULL where nothing was joined': joinsNull,
}

async function runsBesideLong(warehouse: Warehouse): Promise<void> {
  await createScratch(warehouse)
  // No block of a ClickHouse server may sleep longer than 3 s.
  const sleep =
    'SELECT sleepEachRow({seconds:Float64}) AS id FROM numbers(2) SETTINGS max_block_size = 1'
  const long: Record<string, () => Promise<unknown>> = {
    command: () => warehouse.command(`INSERT INTO scratch (id) ${sleep}`, { seconds: 1 }),
    rows: () => warehouse.rows(sleep, { seconds: 1 }),
    stream: () => readAll(warehouse, sleep, { seconds: 1 }),
  }

  for (const [kind, start] of Object.entries(long)) {
    let isLongDone = false
    const ended = start().then(() => (isLongDone = true))
    assert.deepEqual(await warehouse.rows('SELECT {n:UInt8} AS n', { n: 1 }), [{ n: 1 }])
    assert.deepEqual(await readAll(warehouse, 'SELECT {n:UInt8}', { n: 2 }), [[2]])
    assert.equal(isLongDone, false, kind)
    await ended
  }
}

async function answersAll(warehouse: Warehouse): Promise<void> {
  const sql = 'SELECT {n:UInt32} AS n, sleep(0.05) AS slept'

  const answers = await Promise.all(
    Array.from({ length: 3 * callsBeyondPool }, (_, n) => warehouse.rows<{ n: number }>(sql, { n }))
  )

  assert.deepEqual(
    answers.map(([row]) => row?.n),
    answers.map((_, n) => n)
  )
}

async function agreesOnRows(warehouse: Warehouse): Promise<void> {
  const sql = `SELECT number AS n, if(number % 3 = 0, NULL, toString(number)) AS text,
    [number, 1] AS list, toDecimal128(number, 9) / 7 AS amount, number / 7 AS ratio,
    toDateTime64(number, 3) AS at, toDate(number) AS day, (number, 'x') AS pair
    FROM numbers(1000) ORDER BY n`

  const rows = await warehouse.rows<Record<string, unknown>>(sql)

  assert.equal(rows.length, 1000)
  assert.equal(typeof rows[1]?.['amount'], 'string')
  assert.deepEqual(
    await readAll(warehouse, sql),
    rows.map((row) => Object.values(row))
  )
}

async function streamsFlat(warehouse: Warehouse): Promise<void> {
  // 100 MB as rows, of which a reader that kept its rows would keep all.
  const sql = `SELECT number, repeat('x', 200) FROM numbers({count:UInt64})
    SETTINGS max_block_size = 8192`
  const before = usedBytes()
  let count = 0
  let usedMax = 0

  for await (const block of warehouse.stream(sql, { count: 300_000 })) {
    for (const [number] of parseRows(block)) {
      assert.equal(number, count)
      count += 1
      if (count % 100_000 === 0) usedMax = Math.max(usedMax, usedBytes() - before)
    }
  }

  assert.equal(count, 300_000)
  // A block is 2 MB, as bytes, as text and as rows, and the next ones are read ahead.
  assert.ok(usedMax < 30e6, `${usedMax} bytes`)
}

async function keepsBlocks(warehouse: Warehouse): Promise<void> {
  // Text with everything that could be taken for the end of a line.
  const sql = `SELECT number, concat('\\n\\r\u2028"[', toString(number)) FROM numbers(50000)
    SETTINGS max_block_size = 8192`
  const blocks: Buffer[] = []
  const copies: Buffer[] = []
  for await (const block of warehouse.stream(sql)) {
    assert.equal(block.at(-1), 0x0a)
    blocks.push(block)
    copies.push(Buffer.from(block))
  }
  await warehouse.rows('SELECT count() AS count FROM numbers(1000000)')

  assert.ok(blocks.length > 1)
  assert.deepEqual(Buffer.concat(blocks), Buffer.concat(copies))
  const rows = blocks.flatMap((block) => parseRows(block))
  assert.deepEqual(
    rows.map(([number]) => number),
    Array.from({ length: 50_000 }, (_, number) => number)
  )
  assert.equal(rows[7]?.[1], '\n\r\u2028"[7')
}

async function streamsNothing(warehouse: Warehouse): Promise<void> {
  assert.deepEqual(await readAll(warehouse, 'SELECT number FROM numbers(10) WHERE number > 10'), [])
}

async function throwsInMiddle(warehouse: Warehouse): Promise<void> {
  // 60 MB in blocks of 1.6: more than lies between an engine and its reader, so that rows were read by then.
  const sql = `SELECT number, throwIf(number = {bad:UInt64}), repeat('x', 200)
    FROM numbers(300000) SETTINGS max_block_size = 8192`

  for (const bad of [0, 250_000, 299_999]) {
    let count = 0
    const reading = async (): Promise<void> => {
      for await (const block of warehouse.stream(sql, { bad })) count += parseRows(block).length
    }
    await assert.rejects(reading(), isRefusal(395))
    assert.ok(count <= bad, `${count} rows before row ${bad}`)
    assert.equal(count > 0, bad > 100_000)
  }
  await assert.rejects(warehouse.rows(sql, { bad: 250_000 }), isRefusal(395))
}

async function leavesEarly(warehouse: Warehouse): Promise<void> {
  for (let round = 0; round < callsBeyondPool; round += 1) {
    for await (const rows of warehouse.stream('SELECT number FROM numbers(100000000)')) {
      assert.ok(rows.length > 0)
      break
    }
  }

  assert.deepEqual(await warehouse.rows('SELECT 1 AS one'), [{ one: 1 }])
}

async function aborts(warehouse: Warehouse): Promise<void> {
  for (let round = 0; round < callsBeyondPool; round += 1) {
    const controller = new AbortController()
    const reading = async (): Promise<void> => {
      const sql = 'SELECT number FROM numbers(100000000)'
      for await (const rows of warehouse.stream(sql, {}, controller.signal)) {
        assert.ok(rows.length > 0)
        controller.abort()
      }
    }
    await assert.rejects(reading(), { code: 'WAREHOUSE_UNAVAILABLE' })
  }

  assert.deepEqual(await warehouse.rows('SELECT 1 AS one'), [{ one: 1 }])
}

async function abortsBefore(warehouse: Warehouse): Promise<void> {
  const stream = warehouse.stream('SELECT 1', {}, AbortSignal.abort())

  await assert.rejects(async () => {
    for await (const rows of stream) assert.fail(`${rows.length} rows`)
  }, ServiceError)
}

async function refuses(warehouse: Warehouse): Promise<void> {
  for (let round = 0; round < callsBeyondPool / 4; round += 1) {
    await assert.rejects(warehouse.rows('SELECT nothing_of_this_name'), isRefusal(47))
    await assert.rejects(warehouse.rows('SELECT {missing:String}'), isRefusal(456))
    await assert.rejects(warehouse.command('ALTER TABLE scratch NOTHING'), isRefusal(62))
    await assert.rejects(readAll(warehouse, 'SELEC 1'), isRefusal(62))
    await assert.rejects(readAll(warehouse, 'SELECT {n:Int32}', { n: 'x' }), isRefusal(457))
  }

  assert.deepEqual(await warehouse.rows('SELECT 1 AS one'), [{ one: 1 }])
}

async function joinsNull(warehouse: Warehouse): Promise<void> {
  const sql = `SELECT a.number AS a, b.number AS b, b.text AS text FROM numbers(2) AS a
    LEFT JOIN (SELECT number, 'joined' AS text FROM numbers(1)) AS b ON a.number = b.number ORDER BY a`

  assert.deepEqual(await warehouse.rows(sql), [
    { a: 0, b: 0, text: 'joined' },
    { a: 1, b: null, text: null },
  ])
}

/** What is held after a collection, so that garbage does not count. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
