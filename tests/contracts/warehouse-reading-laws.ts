import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ServiceError } from '../../src/errors.ts'
import type { ParamValue, Warehouse } from '../../src/warehouse/warehouse.ts'
import { callsBeyondPool, createScratch, isRefusal, readAll } from './warehouse-law.ts'
import type { Laws } from './warehouse-law.ts'

/** How values go in and rows come out. */
export const readingLaws: Laws = {
  'a bound value of any type arrives as it was given': bindsValues,
  'a list that is too long for an address arrives whole': bindsLongLists,
  'a statement that is no SELECT takes bound values as well': bindsInExplain,
  'text that looks like SQL stays a value': bindsInjection,
  'values bound at the same time never mix': keepsValuesApart,
  'a long statement holds up no other call': runsBesideLong,
  'more calls than sessions or connections all get their answer': answersAll,
  'rows and stream give the same values': agreesOnRows,
  'a stream of 300,000 rows is complete, in order and flat in memory': streamsFlat,
  'a stream without rows ends well': streamsNothing,
  'a stream that fails in the middle throws and never ends well': throwsInMiddle,
  'leaving streams early frees what they held': leavesEarly,
  'an abort ends a stream with an error': aborts,
  'a signal that was aborted before starts nothing': abortsBefore,
  'a refused statement tells the code of the engine and leaves the warehouse usable': refuses,
  'an outer join gives NULL where nothing was joined': joinsNull,
}

const texts = [
  '',
  `it's "quoted" \\ and \\' and \\`,
  'line\nfeed\r\ttab',
  '\\N',
  '\\t',
  'NULL',
  "['a','b']",
  '{text:String}',
  '%2C+&=#?\u00a0',
  '\u0001\b\f\u001f\u007f',
  'Gr\u00fc\u00dfe \u4f60\u597d \u{1f600}\u{1f468}\u200d\u{1f469} \u2028 e\u0301 \ufeff',
]

const boundValues: readonly (readonly [string, ParamValue, string])[] = [
  ...texts.map((text) => ['String', text, text] as const),
  ['Int32', -2_147_483_648, '-2147483648'],
  ['Int64', 2 ** 53 - 1, '9007199254740991'],
  ['Int64', 2n ** 62n, '4611686018427387904'],
  ['Int64', -(2n ** 62n), '-4611686018427387904'],
  ['UInt64', 2n ** 64n - 1n, '18446744073709551615'],
  ['Float64', 0.1, '0.1'],
  ['Float64', -1.5e-7, '-1.5e-7'],
  ['Bool', true, 'true'],
  ['Bool', false, 'false'],
  ['Decimal128(9)', '19.99', '19.99'],
  ['Date', '2026-03-29', '2026-03-29'],
  ["DateTime64(3, 'UTC')", '2026-03-29 02:30:00.123', '2026-03-29 02:30:00.123'],
  ["DateTime64(6, 'UTC')", '2026-03-29 02:30:00.123456', '2026-03-29 02:30:00.123456'],
  ['Array(String)', [], '[]'],
  ['Array(Int64)', [], '[]'],
  ['Array(Int32)', [1, -2, 3], '[1,-2,3]'],
  ['Array(Int64)', [2n ** 62n, -(2n ** 62n)], '[4611686018427387904,-4611686018427387904]'],
  ['Array(Date)', ['2026-03-29'], "['2026-03-29']"],
]

async function bindsValues(warehouse: Warehouse): Promise<void> {
  for (const [type, value, printed] of boundValues) {
    const sql = `SELECT toString({value:${type}}) AS value`
    assert.deepEqual(await warehouse.rows(sql, { value }), [{ value: printed }], type)
  }
  const lists = 'SELECT {texts:Array(String)} AS texts, {one:Array(String)} AS one'
  const [row] = await warehouse.rows(lists, { texts, one: [''] })
  assert.deepEqual(row, { texts, one: [''] })
}

async function bindsLongLists(warehouse: Warehouse): Promise<void> {
  const keys = Array.from({ length: 20_000 }, (_, index) => `it's\\${index}\n\u{1f600}`)

  const [row] = await warehouse.rows('SELECT {keys:Array(String)} AS keys, {n:UInt8} AS n', {
    keys,
    n: 7,
  })

  assert.deepEqual(row, { keys, n: 7 })
}

async function bindsInExplain(warehouse: Warehouse): Promise<void> {
  const sql = 'EXPLAIN SYNTAX SELECT {text:String} AS text'

  const rows = await warehouse.rows<{ explain: string }>(sql, { text: "it's" })

  assert.match(rows.map((row) => row.explain).join(' '), /SELECT/u)
}

async function bindsInjection(warehouse: Warehouse): Promise<void> {
  await createScratch(warehouse)
  const attacks = [
    `'; DROP TABLE scratch; --`,
    `\\'; DROP TABLE scratch; --`,
    `' OR 1=1 --`,
    `') UNION ALL SELECT 1 --`,
    'x\n\nFORMAT Null',
    '\\\\',
  ]

  for (const attack of attacks) {
    const params = { attack, list: [attack] }
    await warehouse.command(
      'INSERT INTO scratch (text) SELECT arrayJoin([{attack:String}, {list:Array(String)}[1]])',
      params
    )
    const sql =
      'SELECT count() AS n FROM scratch WHERE text = {attack:String} AND has({list:Array(String)}, text)'
    assert.deepEqual(await warehouse.rows(sql, params), [{ n: 2 }], attack)
  }
}

async function keepsValuesApart(warehouse: Warehouse): Promise<void> {
  await createScratch(warehouse)
  const run = async (id: number): Promise<void> => {
    const params = { id, text: `text ${id}`, count: 10 + id }
    await warehouse.command(
      'INSERT INTO scratch (id, text) VALUES ({id:Int64}, {text:String})',
      params
    )
    const sql = 'SELECT {id:Int64} AS id, {text:String} AS text FROM numbers({count:UInt32})'
    const rows = await warehouse.rows(sql, params)
    assert.equal(rows.length, 10 + id)
    for (const row of rows) assert.deepEqual(row, { id, text: `text ${id}` })
    const streamed = await readAll(warehouse, sql, params)
    assert.equal(streamed.length, 10 + id)
    for (const row of streamed) assert.deepEqual(row, [id, `text ${id}`])
  }

  await Promise.all(Array.from({ length: 2 * callsBeyondPool }, (_, id) => run(id)))

  const wrong =
    "SELECT count() AS n, countIf(text != concat('text ', toString(id))) AS wrong FROM scratch"
  assert.deepEqual(await warehouse.rows(wrong), [{ n: 2 * callsBeyondPool, wrong: 0 }])
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

  for await (const rows of warehouse.stream(sql, { count: 300_000 })) {
    for (const [number] of rows) {
      assert.equal(number, count)
      count += 1
      if (count % 100_000 === 0) usedMax = Math.max(usedMax, usedBytes() - before)
    }
  }

  assert.equal(count, 300_000)
  // A block is 2 MB, as bytes, as text and as rows, and the next ones are read ahead.
  assert.ok(usedMax < 30e6, `${usedMax} bytes`)
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
      for await (const rows of warehouse.stream(sql, { bad })) count += rows.length
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
