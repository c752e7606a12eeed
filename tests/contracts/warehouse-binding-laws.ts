import assert from 'node:assert/strict'
import type { Params, ParamValue, Warehouse } from '../../src/warehouse/warehouse.ts'
import { callsBeyondPool, createScratch, isRefusal, readAll } from './warehouse-law.ts'
import type { Laws } from './warehouse-law.ts'

/** How values go in. */
export const bindingLaws: Laws = {
  'a bound value of any type arrives as it was given': bindsValues,
  'a value that a command binds arrives as it was given': bindsInCommands,
  'a command without one of its values fails, whatever was bound before': refusesMissingValues,
  'commands with bound values run at the same time': runsCommandsTogether,
  'a list that is too long for an address arrives whole': bindsLongLists,
  'a statement that is no SELECT takes bound values as well': bindsInExplain,
  'text that looks like SQL stays a value': bindsInjection,
  'a value that was forgotten is refused, whatever was bound before': refusesForgotten,
  'values bound at the same time never mix': keepsValuesApart,
  'values bound beside commands that run for long never mix with theirs': keepsLongValuesApart,
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

async function refusesForgotten(warehouse: Warehouse): Promise<void> {
  const sql = 'SELECT {forgotten:UInt8} AS forgotten, {other:UInt8} AS other'
  const ways = [
    (params: Params) => readAll(warehouse, sql, params),
    (params: Params) => warehouse.rows(sql, params),
    (params: Params) => warehouse.command(sql, params),
  ]

  for (const params of [{}, { other: 8 }]) {
    for (const ask of ways) {
      await warehouse.rows(sql, { forgotten: 7, other: 8 })
      await assert.rejects(() => ask(params), isRefusal())
    }
  }
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

async function bindsInCommands(warehouse: Warehouse): Promise<void> {
  await createScratch(warehouse)
  const printedAs = new Map<number, string>()
  for (const [index, [type, value, printed]] of boundValues.entries()) {
    const sql = `INSERT INTO scratch (id, text) SELECT {id:Int64}, toString({value:${type}})`
    await warehouse.command(sql, { id: index, value })
    printedAs.set(index, printed)
  }
  const lists = `INSERT INTO scratch (id, text) SELECT {id:Int64}, toJSONString({texts:Array(String)})`
  await warehouse.command(lists, { id: boundValues.length, texts })

  const rows = await warehouse.rows<{ id: number; text: string }>(
    'SELECT id, text FROM scratch ORDER BY id'
  )

  assert.deepEqual(
    rows.slice(0, -1).map(({ id, text }) => [id, text]),
    [...printedAs]
  )
  assert.deepEqual(JSON.parse(rows.at(-1)?.text ?? ''), texts)
}

async function refusesMissingValues(warehouse: Warehouse): Promise<void> {
  await createScratch(warehouse)
  const sql = 'INSERT INTO scratch (id, text) SELECT {id:Int64}, {text:String}'
  for (let id = 0; id < callsBeyondPool; id += 1) {
    await warehouse.command(sql, { id, text: 'earlier' })
  }

  await assert.rejects(warehouse.command(sql, { id: 100 }), { code: 'WAREHOUSE_REFUSED' })

  assert.deepEqual(await warehouse.rows('SELECT id FROM scratch WHERE id = 100'), [])
}

async function runsCommandsTogether(warehouse: Warehouse): Promise<void> {
  await createScratch(warehouse)
  const running = new Set([1, 2])
  const sql = `INSERT INTO scratch (id, text) SELECT {id:Int64}, '' FROM numbers({count:UInt32})
    WHERE sleepEachRow({seconds:Float64}) = 0 SETTINGS max_block_size = 1`
  const commands = [...running].map(async (id) => {
    await warehouse.command(sql, { id, count: 20, seconds: 0.05 })
    running.delete(id)
  })
  let most = 0
  while (running.size > 0 && most < 2) {
    const [row] = await warehouse.rows<{ n: number }>(
      `SELECT count() AS n FROM system.processes
       WHERE query LIKE '%INTO scratch%' AND query LIKE '%sleepEachRow%' AND query NOT LIKE '%system.processes%'`
    )
    most = Math.max(most, row?.n ?? 0)
  }
  await Promise.all(commands)

  assert.equal(most, 2)
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

/** The engine in process keeps bound values apart by ways of its own for commands and for streams. */
async function keepsLongValuesApart(warehouse: Warehouse): Promise<void> {
  await createScratch(warehouse)
  const commandCount = 8
  const running = new Set(Array.from({ length: commandCount }, (_, id) => id))
  const command = async (id: number): Promise<void> => {
    // Its values are used from the first row to the last.
    const sql = `INSERT INTO scratch (id, text) SELECT {id:Int64}, concat({text:String}, toString({id:Int64}))
      FROM numbers({count:UInt32}) WHERE sleepEachRow({seconds:Float64}) = 0 SETTINGS max_block_size = 1`
    await warehouse.command(sql, { id, text: 'command ', count: 5, seconds: 0.05 })
    running.delete(id)
  }
  const reader = async (first: number): Promise<number> => {
    let readCount = 0
    for (let id = first; running.size > 0; id += 1) {
      const params = { id, text: `reader ${first} `, list: [`${id}`, 'x'], count: 3 }
      const sql = `SELECT {id:Int64} AS id, concat({text:String}, {list:Array(String)}[1]) AS text
        FROM numbers({count:UInt32})`
      const expected = { id, text: `reader ${first} ${id}` }
      assert.deepEqual(await warehouse.rows(sql, params), [expected, expected, expected])
      const row = Object.values(expected)
      assert.deepEqual(await readAll(warehouse, sql, params), [row, row, row])
      readCount += 1
    }
    return readCount
  }

  const commands = [...running].map((id) => command(id))
  const readers = [1_000, 2_000, 3_000].map((first) => reader(first))
  await Promise.all(commands)

  for (const readCount of await Promise.all(readers)) assert.ok(readCount > 1)
  const wrong = `SELECT count() AS n, uniqExact(id) AS ids, countIf(text != concat('command ', toString(id))) AS wrong
    FROM scratch`
  assert.deepEqual(await warehouse.rows(wrong), [
    { n: 5 * commandCount, ids: commandCount, wrong: 0 },
  ])
}
