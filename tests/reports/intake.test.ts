import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { createIntakeReader, type IntakeQuestion } from '../../src/reports/intake.ts'
import { splitStatements } from '../../src/warehouse/migrate.ts'
import type { Intake } from '../../src/contract/intake.ts'
import type { AdEventRecord, ConversionRecord } from '../../src/spool/record.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { readFileSync } from 'node:fs'
import {
  aConversion as aConversionOfTen,
  aLine,
  anEvent,
  append,
  aShipment,
  elsewhere,
  mint,
  withRemove,
  type Shipment,
  shipBatch,
} from '../helpers/shipment.ts'
import { anAd } from '../tracking-data/builders.ts'

// One warehouse for the file, since a start costs a second; each test is a publisher of its own.
let shipment: Shipment
let warehouse: Warehouse
let publisherId = 100
const closers: (() => void | Promise<void>)[] = []

before(async () => {
  shipment = await aShipment({ after: (close) => closers.push(close) })
  warehouse = shipment.warehouse
})
after(async () => {
  for (const close of closers.toReversed()) await close()
})
beforeEach(() => {
  publisherId += 10
})

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Midnight of 2 March 2026 in UTC. */
const day2Ms = Date.UTC(2026, 2, 2)
const bot = 'Googlebot/2.1 (+http://www.google.com/bot.html)'

async function shipAll(): Promise<void> {
  const { deps, spool } = shipment
  while (spool.read(1).frames.length > 0) await shipBatch(deps)
}

async function send(records: readonly (AdEventRecord | ConversionRecord)[]): Promise<void> {
  await append(shipment.spool, records)
  await shipAll()
}

async function attribute(): Promise<void> {
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

async function read(
  changes: Partial<IntakeQuestion> = {},
  asked: Pick<Warehouse, 'rows' | 'barrier'> = warehouse
): Promise<Intake> {
  return await createIntakeReader(asked)({
    publisherId,
    startDate: '2026-03-02',
    endDate: '2026-03-02',
    siteIds: [101],
    marketIds: [1],
    signal: new AbortController().signal,
    ...changes,
  })
}

function aConversion(changes: Partial<ConversionRecord>): ConversionRecord {
  return aConversionOfTen({ publisherId, ...changes })
}

function tokenOf(changes: Parameters<typeof anAd>[0]): string {
  return mint(anAd({ publisherId, ...changes })).trackingData
}

async function theDay(changes: Partial<IntakeQuestion> = {}) {
  const { days } = await read(changes)
  assert.equal(days.length, 1)
  const [day] = days
  assert.ok(day !== undefined)
  return day
}

function at(hour: number): { readonly receivedAtMs: number } {
  return { receivedAtMs: day2Ms + hour * hourMs }
}

test('every delivery of a day is told once, under what became of it', async () => {
  const nobody = { userIdentity: '', loginIdentity: '' }
  await send([
    aConversion({ ...at(1), transactionId: 'A' }),
    aConversion({ ...at(2), transactionId: 'A' }),
    aConversion({ ...at(3), transactionId: 'A', lines: [aLine({ price: 5 })] }),
    aConversion({ ...at(4), transactionId: 'B', origin: elsewhere }),
    aConversion({ ...at(5), transactionId: 'C', ...nobody }),
    aConversion({
      ...at(6),
      transactionId: 'D',
      lines: [aLine(), aLine({ quantity: 0 }), aLine({ gtin: ' ' })],
    }),
    aConversion({ ...at(7), transactionId: 'E', publisherId: publisherId + 1 }),
  ])
  const early = await theDay()
  await attribute()

  const day = await theDay()

  assert.equal(early.conversions.waiting, 5)
  assert.equal(early.conversions.counted, 0)
  assert.deepEqual(day.conversions, {
    received: 6,
    counted: 3,
    waiting: 0,
    notCounted: { repeat: 1, 'conflicting-repeat': 1, 'untrusted-source': 1 },
    withoutShopper: 1,
    lines: { received: 8, notCounted: { 'out-of-range': 1, 'no-product': 1 } },
    lastReceivedAt: '2026-03-02T06:00:00.000Z',
  })
})

test('a repeat is one however long after its purchase it comes, and its day says so', async () => {
  const monthLater = day2Ms + 30 * dayMs
  await send([aConversion({ receivedAtMs: day2Ms })])
  await attribute()
  await send([
    aConversion({ receivedAtMs: monthLater }),
    aConversion({ receivedAtMs: monthLater + 1, currency: 'SEK' }),
  ])
  await attribute()

  const { days } = await read({ endDate: '2026-04-10' })

  assert.deepEqual(
    days.map(({ date, conversions }) => [date, conversions.counted, conversions.notCounted]),
    [
      ['2026-03-02', 1, {}],
      ['2026-04-01', 0, { repeat: 1, 'conflicting-repeat': 1 }],
    ]
  )
})

test('a voided delivery counts as void, and the next one in its place', async () => {
  await send([aConversion({ receivedAtMs: day2Ms + 1 }), aConversion({ receivedAtMs: day2Ms + 2 })])
  await warehouse.command(
    `INSERT INTO delivery_void SELECT purchase_key, delivery_id, now64(6) FROM delivery
     WHERE publisher_id = {publisherId:Int32} ORDER BY received_at LIMIT 1`,
    { publisherId }
  )
  await attribute()

  const { conversions } = await theDay()

  assert.equal(conversions.counted, 1)
  assert.deepEqual(conversions.notCounted, { void: 1 })
})

test('ad events are told by kind and reason, each served ad once', async () => {
  const servedAtMs = day2Ms + hourMs
  const trackingData = tokenOf({ servedAtMs })
  const receivedAtMs = servedAtMs + hourMs
  await send([
    anEvent({ kind: 'load', trackingData, receivedAtMs }),
    anEvent({ kind: 'impression', trackingData, receivedAtMs: receivedAtMs + 1 }),
    anEvent({ kind: 'impression', trackingData, receivedAtMs: receivedAtMs + 2 }),
    anEvent({ trackingData, receivedAtMs }),
    anEvent({ trackingData, receivedAtMs, userAgent: bot }),
    anEvent({ trackingData: tokenOf({ servedAtMs }), receivedAtMs, isPrefetch: true }),
    anEvent({ trackingData: tokenOf({ servedAtMs: receivedAtMs - 400 * dayMs }), receivedAtMs }),
    anEvent({ trackingData: tokenOf({ servedAtMs: receivedAtMs + 400 * dayMs }), receivedAtMs }),
    anEvent({ trackingData: tokenOf({ servedAtMs, publisherId: publisherId + 1 }), receivedAtMs }),
  ])

  const { loads, impressions, clicks } = await theDay()

  const lastReceivedAt = new Date(receivedAtMs).toISOString()
  assert.deepEqual(loads, { counted: 1, notCounted: {}, lastReceivedAt })
  assert.deepEqual(impressions, {
    counted: 1,
    notCounted: {},
    lastReceivedAt: new Date(receivedAtMs + 1).toISOString(),
  })
  assert.deepEqual(clicks, {
    counted: 1,
    notCounted: { bot: 1, prefetch: 1, expired: 1, early: 1 },
    lastReceivedAt,
  })
})

// The earliest receipt may lie before the range: only what FINAL leaves may be compared with it.
test('a click counts on the day of its earliest receipt, whichever range is asked for', async () => {
  const trackingData = tokenOf({ servedAtMs: day2Ms - 7 * dayMs + hourMs })
  const early = day2Ms - 6 * dayMs
  await send([anEvent({ trackingData, receivedAtMs: day2Ms + 1 })])
  assert.equal((await theDay()).clicks.counted, 1)

  await send([anEvent({ trackingData, receivedAtMs: early })])

  assert.deepEqual((await read()).days, [])
  const day = await theDay({ startDate: '2026-02-24', endDate: '2026-02-24' })
  assert.deepEqual([day.date, day.clicks.counted], ['2026-02-24', 1])
})

test('the widest counted receipts are found: 7 days after serving, and 5 minutes before it', async () => {
  await send([
    anEvent({ trackingData: tokenOf({ servedAtMs: day2Ms - 7 * dayMs }), receivedAtMs: day2Ms }),
    anEvent({
      trackingData: tokenOf({ servedAtMs: day2Ms + dayMs + 299_999 }),
      receivedAtMs: day2Ms + dayMs - 1,
    }),
  ])

  assert.equal((await theDay()).clicks.counted, 2)
})

test('a batch that is shipped twice counts once', async () => {
  const { deps, spool } = shipment
  const servedAtMs = day2Ms
  await append(spool, [
    anEvent({ trackingData: tokenOf({ servedAtMs }), receivedAtMs: day2Ms + 1 }),
    anEvent({
      trackingData: tokenOf({ servedAtMs, siteId: 9 }),
      receivedAtMs: day2Ms,
      userAgent: bot,
    }),
    aConversion({ receivedAtMs: day2Ms, siteId: 9 }),
  ])
  const broken = { ...deps, spool: withRemove(spool, () => Promise.reject(new Error('crash'))) }
  for (let count = 0; count < 3; count += 1) await assert.rejects(shipBatch(broken), /crash/)
  await shipAll()
  await attribute()

  const intake = await read()

  const [day] = intake.days
  assert.equal(day?.conversions.received, 1)
  assert.equal(day?.clicks.counted, 1)
  assert.deepEqual(day?.clicks.notCounted, { bot: 1 })
  assert.deepEqual(intake.unknown.conversionSites, [{ id: 9, count: 1 }])
  assert.deepEqual(intake.unknown.adSites, [{ id: 9, count: 1 }])
})

test('ids that the catalog does not know are listed, those named most often first, 100 at most', async () => {
  const conversions = Array.from({ length: 120 }, (_, index) =>
    aConversion({ receivedAtMs: day2Ms, transactionId: `T${index}`, siteId: 1_000 + index })
  )
  const ad = { servedAtMs: day2Ms, siteId: 7, marketId: 99 }
  await send([
    ...conversions,
    aConversion({ receivedAtMs: day2Ms, transactionId: 'again', siteId: 1_050 }),
    aConversion({ receivedAtMs: day2Ms, transactionId: 'known' }),
    anEvent({ trackingData: tokenOf(ad), receivedAtMs: day2Ms }),
    anEvent({ trackingData: tokenOf({ ...ad, siteId: 101 }), receivedAtMs: day2Ms }),
  ])

  const { unknown } = await read()

  assert.deepEqual(unknown.conversionSites.slice(0, 2), [
    { id: 1_050, count: 2 },
    { id: 1_000, count: 1 },
  ])
  assert.equal(unknown.conversionSites.length, 100)
  assert.deepEqual(unknown.adSites, [{ id: 7, count: 1 }])
  assert.deepEqual(unknown.adMarkets, [{ id: 99, count: 2 }])
  const known = await read({
    siteIds: [101, 7, ...conversions.map(({ siteId }) => siteId)],
    marketIds: [1, 99],
  })
  assert.deepEqual(known.unknown, { conversionSites: [], adSites: [], adMarkets: [] })
})

test('transactions that look alike are counted, and those that only share letters are not', async () => {
  const alike = ['A-1', 'A-1 ', ' A-1', 'A\u200b-1', 'caf\u00e9', 'cafe\u0301']
  const others = ['B 1', 'B1', 'b1', ' C ', '  ', ' ']
  await send(
    [...alike, ...others, 'A-1'].map((transactionId) => aConversion({ ...at(4), transactionId }))
  )

  assert.equal((await read()).lookAlikes, alike.length)
  assert.equal((await read({ startDate: '2026-04-01', endDate: '2026-04-02' })).lookAlikes, 0)
})

test('a conversion that was set aside is told on the day of its receipt, also when set aside twice', async () => {
  const record = aConversion({ receivedAtMs: day2Ms + dayMs - 1 })
  const rows = [
    { key: 'k1', reason: 'x', record: JSON.stringify(record) },
    { key: 'k2', reason: 'x', record: JSON.stringify({ ...record, publisherId: publisherId + 1 }) },
    { key: 'k3', reason: 'x', record: JSON.stringify(anEvent()) },
    { key: 'k4', reason: 'x', record: Buffer.from('broken').toString('base64') },
    {
      key: 'k5',
      reason: 'x',
      record: '{"type":"conversion","publisherId":1e300,"receivedAtMs":-9}',
    },
  ].map((row) => JSON.stringify({ ...row, set_aside_at: '2026-03-09 00:00:00.000000' }))
  await warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))
  await warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))

  const { conversions } = await theDay()

  assert.deepEqual(conversions, {
    received: 1,
    counted: 0,
    waiting: 0,
    notCounted: { 'set-aside': 1 },
    withoutShopper: 0,
    lines: { received: 0, notCounted: {} },
  })
})

test('a range of many weeks gives the days of its parts, and only those with something in them', async () => {
  const days = [0, 6, 7, 8, 13, 14, 90, 91, 92]
  await send(
    days.map((day) => aConversion({ receivedAtMs: day2Ms + day * dayMs, transactionId: `T${day}` }))
  )
  await attribute()

  const intake = await read({ endDate: '2026-06-01' })

  const expected = days
    .slice(0, -1)
    .map((day) => new Date(day2Ms + day * dayMs).toISOString().slice(0, 10))
  assert.deepEqual(
    intake.days.map(({ date }) => date),
    expected
  )
  assert.ok(intake.days.every(({ conversions }) => conversions.counted === 1))
  assert.equal(intake.lastReceivedAt, '2026-06-01T00:00:00.000Z')
})

test('days that no receipt can have are empty, not an error', async () => {
  for (const day of ['0001-01-01', '1969-12-31', '2150-01-01', '9999-12-31']) {
    const intake = await read({ startDate: day, endDate: day })
    assert.deepEqual(intake.days, [], day)
  }
})

test('a caller that has gone stops the reading between its statements', async () => {
  const abort = new AbortController()
  let count = 0
  const watched: Pick<Warehouse, 'rows' | 'barrier'> = {
    barrier: () => Promise.resolve(),
    rows: async (sql, params) => {
      count += 1
      abort.abort()
      return await warehouse.rows(sql, params)
    },
  }

  await assert.rejects(read({ endDate: '2026-05-01', signal: abort.signal }, watched), /abort/i)

  assert.equal(count, 1)
})

function backfillStatement(): string {
  const file = new URL('../../src/warehouse/migrations/0004-intake.sql', import.meta.url)
  const statements = splitStatements(readFileSync(file, 'utf8'))
  const found = statements.find((statement) => statement.startsWith('INSERT INTO intake_event'))
  assert.ok(found !== undefined)
  // Since 0023 the receipt follows from `earliness` and is no column that is written.
  return found
    .replace('INSERT INTO intake_event', '$& (* EXCEPT (received_at))')
    .replace('served_ad_id, received_at, site_id', 'served_ad_id, site_id')
}

test('the migration takes over the ad events of before, and running it again changes nothing', async () => {
  const trackingData = tokenOf({ servedAtMs: day2Ms })
  await send([
    anEvent({ trackingData, receivedAtMs: day2Ms + 5 }),
    anEvent({ trackingData, receivedAtMs: day2Ms + 6, userAgent: bot }),
  ])
  const expected = await read()
  await warehouse.command('TRUNCATE TABLE intake_event')

  await warehouse.command(backfillStatement())
  await warehouse.command(backfillStatement())

  assert.deepEqual(await read(), expected)
  assert.equal(expected.days[0]?.clicks.counted, 1)
})
