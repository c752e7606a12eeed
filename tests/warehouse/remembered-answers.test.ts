import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  alsoWritten,
  expiringTables,
  insertInto,
  questionOf,
  RememberedAnswers,
  rememberedLimits,
  rememberingAll,
  tablesReadBy,
  writeOf,
} from '../../src/warehouse/remembered-answers.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { insertTables, parseRows, warehouseTables } from '../../src/warehouse/warehouse.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { copyMigrated, openTestWarehouse } from '../helpers/test-warehouse.ts'
import { aWarehouseFolder } from '../helpers/warehouse-folder.ts'

const countSql = 'SELECT count() AS count FROM rate WHERE currency = {currency:String}'
const anyQuestion = questionOf('rows', countSql, {})
const blocks = [Buffer.from('{"count":1}\n')]

test('a question is answered without a statement until somebody writes to what it reads', async (t) => {
  const { own, other } = await openTwice(t)
  await insertRate(own, '2026-01-05')
  assert.equal(await countRates(own), 1)
  assert.equal(await streamCount(own), 1)

  // Nobody writes behind a warehouse's back in the product. Here it shows that nothing was asked.
  await insertRate(other, '2026-01-06')

  assert.equal(await countRates(own), 1)
  assert.equal(await streamCount(own), 1)
  assert.equal(await countRates(own, 'SEK'), 0)
  await insertRate(own, '2026-01-07')
  assert.equal(await countRates(own), 3)
  assert.equal(await streamCount(own), 3)
})

test('whoever asks until something is there leaves the process its time to do it', async (t) => {
  const warehouse = await openTestWarehouse(t)
  assert.equal(await countRates(warehouse), 0)
  setTimeout(() => void insertRate(warehouse, '2026-01-05'), 1)

  // It would go on for ever if answers came without a turn of the event loop.
  while ((await countRates(warehouse)) === 0) continue
  while ((await streamCount(warehouse)) === 0) continue
})

test('answers are whole values of the caller, who may change them', async (t) => {
  const warehouse = await openTestWarehouse(t)
  await insertRate(warehouse, '2026-01-05')
  const sql = `SELECT currency, day, [1, 2] AS list FROM rate`

  const first = await warehouse.rows<{ currency: string; list: number[] }>(sql)
  first[0]?.list.push(3)
  first.pop()

  assert.deepEqual(await warehouse.rows(sql), [
    { currency: 'CHF', day: '2026-01-05', list: [1, 2] },
  ])
})

test('each lane forgets what another one writes over', async (t) => {
  const folder = aWarehouseFolder(t)
  copyMigrated(folder.path)
  const { pipeline, lookups, reports } = folder.openLanes()
  await migrate(pipeline)

  for (const [index, writer] of [pipeline, lookups, reports, pipeline].entries()) {
    await insertRate(writer, `2026-01-0${index + 1}`)
    for (const reader of [pipeline, lookups, reports]) {
      assert.equal(await countRates(reader), index + 1)
    }
  }
  await pipeline.command("DELETE FROM rate WHERE day = '2026-01-01'")
  assert.equal(await countRates(reports), 3)
  await lookups.command(
    "ALTER TABLE rate DELETE WHERE day = '2026-01-02' SETTINGS mutations_sync = 1"
  )
  assert.equal(await countRates(reports), 2)
  await pipeline.command('TRUNCATE TABLE rate')
  assert.equal(await countRates(reports), 0)
})

test('a write into a table forgets what was read from those that its views fill', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const readCounts = async () =>
    await warehouse.rows('SELECT toUInt32(count()) AS count FROM intake_set_aside')
  assert.deepEqual(await readCounts(), [{ count: 0 }])

  await warehouse.command(
    `INSERT INTO set_aside (key, set_aside_at, reason, record)
     SELECT 'key', now64(6), 'malformed-record', '{"type":"conversion"}'`
  )

  assert.deepEqual(await readCounts(), [{ count: 1 }])
})

test('the tables that views fill are those of the schema', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const views = await warehouse.rows<{ source: string; target: string }>(
    `SELECT arrayJoin(tables.dependencies_table) AS view, name AS source,
       extract(views.create_table_query, ' TO [^ ]*?([a-z_]+) ') AS target
     FROM system.tables AS tables
     INNER JOIN (SELECT name AS view_name, create_table_query FROM system.tables
       WHERE database = currentDatabase()) AS views ON views.view_name = view
     WHERE database = currentDatabase()`
  )
  const targetsOf = (table: string, found = new Set<string>()): ReadonlySet<string> => {
    for (const { source, target } of views) {
      if (source !== table || found.has(target)) continue
      found.add(target)
      targetsOf(target, found)
    }
    return found
  }

  const sources = [...new Set(views.map(({ source }) => source))].toSorted()
  assert.ok(sources.length > 5)
  assert.deepEqual(
    sources.map((source) => [
      source,
      [...targetsOf(source)].filter((one) => one !== source).toSorted(),
    ]),
    Object.entries(alsoWritten).map(([source, targets]) => [source, [...targets]])
  )
})

test('the tables whose rows expire are those of the schema', async (t) => {
  const warehouse = await openTestWarehouse(t)

  const rows = await warehouse.rows<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND create_table_query ILIKE '% TTL %' ORDER BY name`
  )

  const kept = new Set<string>(warehouseTables)
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => kept.has(name)),
    [...expiringTables]
  )
  for (const table of expiringTables) assert.equal(tablesReadBy(`SELECT 1 FROM ${table}`), null)
})

test('an answer that depends on more than tables is not remembered', () => {
  assert.deepEqual(tablesReadBy('SELECT day FROM rate JOIN product ON 1'), ['rate', 'product'])
  for (const sql of [
    'SELECT now64(6)',
    'SELECT 1 FROM rate WHERE day >= today() - 30',
    'SELECT 1 FROM rate WHERE at < NOW ()',
    'SELECT rand(), day FROM rate',
    'SELECT generateUUIDv4() FROM rate',
    'SELECT count() FROM rate, system.parts',
    'SELECT 1',
  ]) {
    assert.equal(tablesReadBy(sql), null, sql)
  }
})

test('statements that write tell their tables, and others count as writing to every one', () => {
  const all = [...warehouseTables]
  assert.deepEqual(writeOf('\n  INSERT INTO attribution (day) SELECT 1'), {
    tables: ['attribution', 'touched_span'],
    mayGoOn: false,
  })
  assert.deepEqual(writeOf('ALTER TABLE rate DELETE WHERE 1'), { tables: ['rate'], mayGoOn: true })
  assert.deepEqual(writeOf('DELETE FROM rate WHERE 1'), { tables: ['rate'], mayGoOn: true })
  for (const sql of [
    'CREATE TABLE rate2 (id UInt8)',
    'EXCHANGE TABLES rate AND rate2',
    'INSERT INTO FUNCTION url()',
    'SYSTEM RESTORE REPLICA rate',
    'ALTER TABLE shelftrace.rate DELETE WHERE 1',
  ]) {
    assert.deepEqual(writeOf(sql).tables, all, sql)
  }
  for (const table of insertTables) assert.ok(insertInto(table).tables.includes(table))
})

test('an answer that was read while something was written is not remembered', async () => {
  const answers = new RememberedAnswers()
  const { writing, endWriting } = aWriting()

  const before = answers.begin(anyQuestion, countSql)
  const write = answers.whileWriting(insertInto('rate'), () => writing)
  before?.(blocks)
  assert.equal(answers.find(anyQuestion), null)
  assert.equal(answers.begin(anyQuestion, countSql), null)
  answers.begin('other', 'SELECT 1 FROM product')?.(blocks)
  assert.equal(answers.find('other'), blocks)
  endWriting()
  await write

  before?.(blocks)
  assert.equal(answers.find(anyQuestion), null)
  answers.begin(anyQuestion, countSql)?.(blocks)
  assert.equal(answers.find(anyQuestion), blocks)
})

test('after an insert that failed answers are remembered, after a deletion that failed no more', async () => {
  const answers = new RememberedAnswers()

  await assert.rejects(answers.whileWriting(insertInto('rate'), fail))
  answers.begin(anyQuestion, countSql)?.(blocks)
  assert.equal(answers.find(anyQuestion), blocks)

  await assert.rejects(answers.whileWriting(writeOf('DELETE FROM rate WHERE 1'), fail))
  assert.equal(answers.find(anyQuestion), null)
  assert.equal(answers.begin(anyQuestion, countSql), null)
})

test('what is remembered is bounded, and what was not asked for longest goes first', () => {
  const { answersMax, bytesMax, bytesPerAnswerMax } = rememberedLimits
  const many = new RememberedAnswers()
  for (let index = 0; index < answersMax; index += 1) keep(many, `q${index}`, 1)
  many.find('q0')
  keep(many, 'one more', 1)
  assert.deepEqual(
    ['q0', 'q1', 'q2', 'one more'].map((question) => many.find(question) !== null),
    [true, false, true, true]
  )

  const large = new RememberedAnswers()
  const fitCount = bytesMax / bytesPerAnswerMax
  for (let index = 0; index <= fitCount; index += 1) keep(large, `q${index}`, bytesPerAnswerMax)
  keep(large, 'too large', bytesPerAnswerMax + 1)
  assert.equal(large.find('q0'), null)
  assert.equal(large.find('too large'), null)
  assert.ok(large.find(`q${fitCount}`) !== null && large.find('q1') !== null)
})

test('a stream is remembered if it was read to its end and fits', async () => {
  const remembered: number[] = []
  const remember = (all: readonly Buffer[]) => remembered.push(Buffer.concat(all).length)

  for await (const block of rememberingAll(give(1, 2), remember)) {
    assert.equal(block.length, 1)
    break
  }
  assert.deepEqual(remembered, [])
  await drain(rememberingAll(give(1, 2), remember))
  await drain(rememberingAll(give(rememberedLimits.bytesPerAnswerMax, 1, 2), remember))
  await drain(rememberingAll(give(), remember))
  assert.deepEqual(remembered, [3, 0])
})

test('questions differ by their form, text and values', () => {
  const questions = [
    questionOf('rows', countSql, { currency: 'CHF' }),
    questionOf('stream', countSql, { currency: 'CHF' }),
    questionOf('rows', `${countSql} `, { currency: 'CHF' }),
    questionOf('rows', countSql, { currency: 'SEK' }),
    questionOf('rows', countSql, { currency: 1n }),
    questionOf('rows', countSql, { currency: 1 }),
    questionOf('rows', countSql, { currency: ['CHF'] }),
  ]

  assert.equal(new Set(questions).size, questions.length)
})

function aWriting() {
  let end: (() => void) | undefined
  const writing = new Promise<void>((resolve) => (end = resolve))
  return { writing, endWriting: () => end?.() }
}

function fail(): Promise<never> {
  return Promise.reject(new Error('too slow'))
}

function keep(answers: RememberedAnswers, question: string, byteCount: number): void {
  answers.begin(question, countSql)?.([Buffer.alloc(byteCount)])
}

async function* give(...sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (const size of sizes) yield await Promise.resolve(Buffer.alloc(size))
}

async function drain(all: AsyncIterable<Buffer>): Promise<void> {
  for await (const block of all) assert.ok(block.length > 0)
}

async function openTwice(t: TestContext) {
  const folder = aWarehouseFolder(t)
  copyMigrated(folder.path)
  const own = folder.open()
  await migrate(own)
  return { own, other: folder.open() }
}

async function insertRate(warehouse: Warehouse, day: string): Promise<void> {
  const row = { currency: 'CHF', day, units_per_euro: '0.94' }
  await warehouse.insert('rate', Buffer.from(`${JSON.stringify(row)}\n`))
}

async function countRates(warehouse: Warehouse, currency = 'CHF'): Promise<number | undefined> {
  const [row] = await warehouse.rows<{ count: number }>(countSql, { currency })
  return row?.count
}

async function streamCount(warehouse: Warehouse): Promise<unknown> {
  const found: unknown[] = []
  for await (const block of warehouse.stream(countSql, { currency: 'CHF' })) {
    found.push(...parseRows(block).flat())
  }
  return found[0]
}
