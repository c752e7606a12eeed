import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { isRefusal, readAll } from './warehouse-law.ts'
import type { Laws } from './warehouse-law.ts'

/** What an insert keeps, and what it refuses. */
export const writingLaws: Laws = {
  'an insert of nothing is no call': insertsNothing,
  'rows inserted twice count once through FINAL': insertsTwice,
  'blocks that are equal are all kept where the table keeps all': keepsEqualBlocks,
  'equal inserts are all kept, also where a table or one behind a view remembers its blocks':
    keepsBlocksOfWindow,
  'a row that equals an earlier one but for its key is kept': keepsSimilarRows,
  'an insert may span 150 partitions': spansPartitions,
  'an unknown field refuses the insert whole': refusesUnknownField,
  'a value that does not fit refuses the insert whole, with the code of the engine': refusesRow,
  'a refusal tells the code and its name, and nothing of the rows and values': quotesNothing,
  'instants are UTC whatever the zone of the machine': keepsUtc,
}

async function insertsNothing(warehouse: Warehouse): Promise<void> {
  await warehouse.insert('audit', Buffer.alloc(0))

  // A call would have failed: there is no such table yet.
  await assert.rejects(warehouse.insert('audit', Buffer.from('{}\n')))
}

async function insertsTwice(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)
  const lines = products(100, 0)

  await warehouse.insert('product', lines)
  await warehouse.insert('product', lines)

  assert.equal(await count(warehouse, 'product FINAL'), 100)
}

async function keepsEqualBlocks(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)
  const lines = audits(100, () => 0)

  await warehouse.insert('audit', lines)
  await warehouse.insert('audit', lines)

  assert.equal(await count(warehouse, 'audit'), 200)
}

/** Replicated tables remember their blocks by default; here plain ones are told to. */
async function keepsBlocksOfWindow(warehouse: Warehouse): Promise<void> {
  const window = 'SETTINGS non_replicated_deduplication_window = 100'
  const columns = `id String, key_id String DEFAULT 'key'`
  await warehouse.command(
    `CREATE TABLE audit (${columns}) ENGINE = MergeTree ORDER BY id ${window}`
  )
  await warehouse.command(
    `CREATE TABLE copied (${columns}) ENGINE = MergeTree ORDER BY id ${window}`
  )
  await warehouse.command('CREATE TABLE set_aside (id String) ENGINE = Null')
  await warehouse.command(
    `CREATE TABLE behind (${columns}) ENGINE = MergeTree ORDER BY id ${window}`
  )
  await warehouse.command('CREATE MATERIALIZED VIEW seen TO behind AS SELECT id FROM set_aside')
  const line = Buffer.from('{"id":"1"}\n')

  for (let round = 0; round < 2; round += 1) {
    await warehouse.insert('audit', line)
    await warehouse.insert('set_aside', line)
    await warehouse.command('INSERT INTO copied (id) SELECT {id:String}', { id: '1' })
    await warehouse.command(`INSERT INTO copied (id) SELECT id FROM audit WHERE id = '1' LIMIT 1`)
    await warehouse.command(`INSERT INTO copied (id) VALUES ('1')`)
  }

  assert.equal(await count(warehouse, 'audit'), 2)
  assert.equal(await count(warehouse, 'behind'), 2)
  assert.equal(await count(warehouse, 'copied'), 6)
}

async function keepsSimilarRows(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)

  await warehouse.insert('product', products(100, 0))
  await warehouse.insert('product', products(100, 100))

  assert.equal(await count(warehouse, 'product FINAL'), 200)
}

async function spansPartitions(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)

  await warehouse.insert(
    'audit',
    audits(300, (index) => index % 150)
  )

  assert.equal(await count(warehouse, 'audit'), 300)
  const parts = `SELECT uniqExact(partition) AS n FROM system.parts
    WHERE database = currentDatabase() AND table = 'audit'`
  assert.deepEqual(await warehouse.rows(parts), [{ n: 150 }])
}

async function refusesUnknownField(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)
  const lines = `${audits(3, () => 0).toString()}{"id":"4","unknown":1}\n`

  await assert.rejects(warehouse.insert('audit', Buffer.from(lines)), isRefusal(117))

  assert.equal(await count(warehouse, 'audit'), 0)
}

async function refusesRow(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)
  const brokenLines = ['{"at":"no instant"}', '{"id":null}', '{"id":"cut', '[]', 'x']

  for (const broken of brokenLines) {
    const lines = Buffer.from(`${audits(3, () => 0).toString()}${broken}\n`)
    await assert.rejects(warehouse.insert('audit', lines), isRefusal(), broken)
  }
  assert.equal(await count(warehouse, 'audit'), 0)
}

async function quotesNothing(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)
  const canary = 'canary'
  const [at, good] = ['2026-03-01 00:00:00', JSON.parse(audits(1, () => 0).toString()) as object]
  const broken: readonly string[] = [
    `{"at":"${canary}"}`,
    `{"at":"${at}","id":"it's ${canary}`,
    `{"${canary}":1}`,
    `"${canary}"`,
    `${canary} 7777`,
    JSON.stringify({ ...good, at: `${at} it's ${canary}` }),
  ]
  const calls = [
    ...broken.map((line) => () => warehouse.insert('audit', Buffer.from(`${line}\n`))),
    ...[
      'SELECT {value:Int32}',
      'SELECT {value:Date}',
      'SELECT toInt32({value:String})',
      'SELECT toDateTime({value:String})',
      'SELECT CAST({value:String}, {type:String})',
      `SELECT CAST({value:String}, 'Enum8(\\'a\\' = 1)')`,
      'SELECT nothing FROM numbers(1) WHERE {value:String} = toString(number)',
      'SELECT no_such_function({value:String})',
      'SELECT dictGet({value:String}, {value:String}, 1)',
      'SELECT toDecimal32({value:String}, 2)',
      'SELECT throwIf(length({value:String}) > 0, {value:String})',
      'SELECT {value:String} + 1',
      'SELECT toFixedString({value:String}, 2)',
      'SELECT {value:Array(String)}',
    ].map((sql) => () => warehouse.rows(sql, { value: `it's ${canary}`, type: canary })),
    () => readAll(warehouse, 'SELECT toInt32({value:String})', { value: canary }),
    () => warehouse.command('SELECT toInt32({value:String})', { value: canary }),
  ]

  for (const call of calls) {
    await assert.rejects(
      call,
      (error) => {
        isRefusal()(error)
        const said = inspect(error, { depth: 10 })
        assert.ok(!said.includes(canary) && !said.includes('7777'), said)
        assert.match(said, /Code: \d+\. DB::Exception.*\([A-Z_0-9]+\)/u)
        return true
      },
      String(calls.indexOf(call))
    )
  }
}

async function keepsUtc(warehouse: Warehouse): Promise<void> {
  await migrate(warehouse)
  const line = {
    at: '2026-03-29 02:30:00',
    id: '1',
    key_id: '',
    action: '',
    subject: '',
    details: '',
  }
  await warehouse.insert('audit', Buffer.from(`${JSON.stringify(line)}\n`))

  const sql = `SELECT toUnixTimestamp(at) AS stored, toString(at) AS printed,
    toUnixTimestamp(toDateTime('2026-03-29 02:30:00')) AS parsed, toString(toDateTime(0)) AS zero,
    toUnixTimestamp({at:DateTime}) AS bound, toString(toDate({at:DateTime})) AS day
    FROM audit`
  const unix = Date.UTC(2026, 2, 29, 2, 30) / 1000
  assert.deepEqual(await warehouse.rows(sql, { at: '2026-03-29 02:30:00' }), [
    {
      stored: unix,
      printed: '2026-03-29 02:30:00.000000',
      parsed: unix,
      zero: '1970-01-01 00:00:00',
      bound: unix,
      day: '2026-03-29',
    },
  ])
}

async function count(warehouse: Warehouse, from: string): Promise<number | undefined> {
  return (await warehouse.rows<{ n: number }>(`SELECT count() AS n FROM ${from}`))[0]?.n
}

function products(length: number, firstKey: number): Buffer {
  return linesOf(length, (index) => ({
    market_id: 1,
    gtin_key: String(firstKey + index),
    gtin: '1',
    title: 'Coffee',
    brand: 'Acme',
    group_id: '',
    is_active: 1,
    version: 1,
  }))
}

function audits(length: number, monthOf: (index: number) => number): Buffer {
  return linesOf(length, (index) => ({
    at: new Date(Date.UTC(2010, monthOf(index), 15)).toISOString().slice(0, 19).replace('T', ' '),
    id: 'id',
    key_id: 'key',
    action: 'test',
    subject: 'subject',
    details: '',
  }))
}

function linesOf(length: number, row: (index: number) => object): Buffer {
  return Buffer.from(
    Array.from({ length }, (_, index) => `${JSON.stringify(row(index))}\n`).join('')
  )
}
