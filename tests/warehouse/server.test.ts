import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import { parseRows } from '../../src/warehouse/warehouse.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { warehouseContract } from '../contracts/warehouse.contract.ts'
import type { OpenWarehouse } from '../contracts/warehouse.contract.ts'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import type { StandIn, StandInBehaviour } from '../helpers/clickhouse-stand-in.ts'

// The stand-in inherits it; far from UTC, so that a zone that leaks in is seen.
process.env['TZ'] = 'America/New_York'

const realUrl = process.env['SHELFTRACE_WAREHOUSE_URL']

// One process for the file, since it takes a second to start; each test has a database of its own.
let standIn: StandIn

before(async () => {
  standIn = await startClickHouseStandIn()
})

after(() => standIn.close())

warehouseContract({ name: 'server over the stand-in', open: () => openOn(standIn.url) })

warehouseContract({
  name: 'server',
  open: () => openOn(realUrl ?? ''),
  skip: realUrl === undefined ? 'SHELFTRACE_WAREHOUSE_URL names no ClickHouse server' : undefined,
})

test('every statement carries the settings that make both adapters mean the same', async (t) => {
  const { warehouse } = await openDatabase(t)

  await warehouse.command('CREATE TABLE audit (id String) ENGINE = MergeTree ORDER BY id')
  await warehouse.insert('audit', Buffer.from('{"id":"1"}\n'))
  await warehouse.rows('SELECT id FROM audit')

  const requests = (await standIn.requests()).slice(-3)
  assert.equal(requests.length, 3)
  for (const { settings, statement } of requests) {
    assert.equal(settings['session_timezone'], 'UTC', statement)
    assert.equal(settings['join_use_nulls'], '1', statement)
    assert.equal(settings['deduplicate_insert'], 'disable', statement)
    assert.equal(settings['deduplicate_insert_select'], 'disable', statement)
    assert.equal(settings['async_insert'], '0', statement)
    if (!statement.startsWith('INSERT')) {
      assert.equal(settings['enable_materialized_cte'], '1', statement)
    }
  }
})

test('a setting that is for speed alone is given until the server forbids it, and then no call fails', async (t) => {
  await standInBehaves(t, { kind: 'forbid', setting: 'enable_materialized_cte' })
  const { warehouse } = await openDatabase(t)
  const sql = 'WITH kept AS MATERIALIZED (SELECT 1 AS one) SELECT one FROM kept'
  const table = 'CREATE TABLE audit (id String) ENGINE = MergeTree ORDER BY id'
  const calls: readonly (() => Promise<unknown>)[] = [
    () => warehouse.command(table),
    () => warehouse.insert('audit', Buffer.from('{"id":"1"}\n')),
    () => warehouse.rows(sql),
    () => countStreamed(warehouse, sql),
  ]

  for (const call of calls) await call()

  const carried = (await standIn.requests()).slice(-5).map(({ settings }) => Object.keys(settings))
  assert.deepEqual(
    carried.map((names) => names.includes('enable_materialized_cte')),
    [true, false, false, false, false]
  )
  // An insert has nothing to speed up.
  const others = carried.map((names) => names.includes('optimize_and_compare_chain'))
  assert.deepEqual(others, [true, true, false, true, true], 'the others are given as before')
})

test('a forbidden setting that the figures hang on is a refusal', async (t) => {
  await standInBehaves(t, { kind: 'forbid', setting: 'session_timezone' })
  const warehouse = openServer(t, standIn.url)

  await assert.rejects(warehouse.rows('SELECT 1'), { code: 'WAREHOUSE_REFUSED' })
})

test('values that are too long for an address travel in the body', async (t) => {
  const { warehouse } = await openDatabase(t)
  const list = Array.from({ length: 1_000 }, (_, index) => `key ${index}`)

  await warehouse.rows('SELECT length({list:Array(String)})', { list })
  await warehouse.rows('SELECT length({list:Array(String)})', { list: ['short'] })

  const [long, short] = (await standIn.requests()).slice(-2)
  assert.equal(long?.isMultipart, true)
  assert.deepEqual(long?.paramNames, ['list'])
  assert.equal(short?.isMultipart, false)
})

test('a wrong password is no fault of the statement: it passes once the operator mends it', async (t) => {
  const url = new URL(standIn.url)
  url.password = 'wrong'
  const warehouse = openServer(t, url.href)

  await assert.rejects(warehouse.rows('SELECT 1'), isAway(516))
})

const away: readonly (readonly [string, StandInBehaviour, number | undefined])[] = [
  ['nobody listens', { kind: 'refuse-connections' }, undefined],
  ['a proxy answers 503', { kind: 'answer', status: 503 }, undefined],
  ['too many queries run', { kind: 'answer', status: 500, clickhouseCode: 202 }, 202],
  ['the memory is used up', { kind: 'answer', status: 500, clickhouseCode: 241 }, 241],
  ['the server does not answer in time', { kind: 'hang' }, undefined],
]

for (const [condition, behaviour, code] of away) {
  test(`while ${condition} every call is WAREHOUSE_UNAVAILABLE, and works again after`, async (t) => {
    const { warehouse } = await openDatabase(t, { requestTimeoutMs: 300 })
    await warehouse.command('CREATE TABLE audit (id String) ENGINE = MergeTree ORDER BY id')
    const insert = (): Promise<void> => warehouse.insert('audit', Buffer.from('{"id":"1"}\n'))
    await standInBehaves(t, behaviour)

    await assert.rejects(warehouse.rows('SELECT 1'), isAway(code))
    await assert.rejects(warehouse.command('SELECT 1'), isAway(code))
    await assert.rejects(insert(), isAway(code))
    await assert.rejects(countStreamed(warehouse, 'SELECT 1'), isAway(code))

    await standIn.behave({ kind: 'serve' })
    await insert()
    assert.deepEqual(await warehouse.rows('SELECT id FROM audit'), [{ id: '1' }])
  })
}

for (const [kind, ends] of [
  ['cut', 'breaks off'],
  ['stall', 'stalls'],
] as const) {
  for (const afterBytes of [0, 1_000, 200_001]) {
    test(`an answer that ${ends} after ${afterBytes} bytes never counts as whole`, async (t) => {
      const { warehouse } = await openDatabase(t, { requestTimeoutMs: 300 })
      await standInBehaves(t, { kind, afterBytes })
      const sql = 'SELECT number FROM numbers(100000)'

      await assert.rejects(countStreamed(warehouse, sql), isAway(undefined))
      await assert.rejects(warehouse.rows(sql), isAway(undefined))

      await standIn.behave({ kind: 'serve' })
      assert.equal(await countStreamed(warehouse, sql), 100_000)
    })
  }
}

test('an abort ends a call that the server never answers', async (t) => {
  const { warehouse } = await openDatabase(t)
  await standInBehaves(t, { kind: 'hang' })
  const controller = new AbortController()

  const reading = countStreamed(warehouse, 'SELECT 1', controller.signal)
  setImmediate(() => controller.abort())

  await assert.rejects(reading, isAway(undefined))
})

test('an abort ends an answer that stalls in the middle', async (t) => {
  const { warehouse } = await openDatabase(t)
  await standInBehaves(t, { kind: 'stall', afterBytes: 100_000 })
  const controller = new AbortController()

  await assert.rejects(async () => {
    for await (const rows of warehouse.stream(
      'SELECT number FROM numbers(100000)',
      {},
      controller.signal
    )) {
      assert.ok(rows.length > 0)
      setImmediate(() => controller.abort())
    }
  }, isAway(undefined))
})

async function openOn(url: string): Promise<OpenWarehouse> {
  const database = `shelftrace_test_${randomBytes(6).toString('hex')}`
  const admin = openServerWarehouse({ url })
  await admin.command(`CREATE DATABASE ${database}`)
  const warehouse = openServerWarehouse({ url: withDatabase(url, database) })
  return {
    warehouse,
    dispose: async () => {
      await warehouse.close()
      await admin.command(`DROP DATABASE ${database}`)
      await admin.close()
    },
  }
}

interface DatabaseOptions {
  readonly requestTimeoutMs?: number
}

async function openDatabase(
  t: TestContext,
  options: DatabaseOptions = {}
): Promise<{ readonly warehouse: Warehouse }> {
  const database = `shelftrace_test_${randomBytes(6).toString('hex')}`
  const admin = openServer(t, standIn.url)
  await admin.command(`CREATE DATABASE ${database}`)
  return { warehouse: openServer(t, withDatabase(standIn.url, database), options) }
}

function openServer(t: TestContext, url: string, options: DatabaseOptions = {}): Warehouse {
  const warehouse = openServerWarehouse({ url, ...options })
  t.after(() => warehouse.close())
  return warehouse
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = database
  return changed.href
}

async function standInBehaves(t: TestContext, behaviour: StandInBehaviour): Promise<void> {
  t.after(() => standIn.behave({ kind: 'serve' }))
  await standIn.behave(behaviour)
}

async function countStreamed(
  warehouse: Warehouse,
  sql: string,
  signal?: AbortSignal
): Promise<number> {
  let count = 0
  for await (const block of warehouse.stream(sql, {}, signal)) count += parseRows(block).length
  return count
}

function isAway(clickhouseCode: number | undefined): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'WAREHOUSE_UNAVAILABLE')
    assert.equal(error.details['clickhouseCode'], clickhouseCode)
    assert.ok(error.cause instanceof Error)
    return true
  }
}
