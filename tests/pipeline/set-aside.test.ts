import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { countSetAside, listSetAside, replaySetAside } from '../../src/pipeline/set-aside.ts'
import { emptyPayloadBytes, encodeFrame, textBytes } from '../../src/spool/frame.ts'
import { recordText } from '../../src/spool/record-text.ts'
import { backfilled, liveFrom } from '../../src/spool/record.ts'
import type { Origin, SpoolRecord } from '../../src/spool/record.ts'
import { encodeEntryHeader } from '../../src/spool/segment.ts'
import { createKeyRing, createMinter, createOpener } from '../../src/tracking-data/tracking-data.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import {
  aConversion,
  aShipment,
  anEvent,
  append,
  counts,
  judgeBySource,
  snapshot,
  shipBatch,
} from '../helpers/shipment.ts'
import type { Shipment } from '../helpers/shipment.ts'
import { anAd } from '../tracking-data/builders.ts'

const whole = { after: null, limit: 100 }
/** Half of a pair of code units: the warehouse refuses the row. */
const loneSurrogate = '\ud800'
const poison = aConversion({ transactionId: `${loneSurrogate}secret-order` })

async function aShipmentWithPoison(t: TestContext): Promise<Shipment> {
  const shipment = await aShipment(t)
  await append(shipment.spool, [anEvent(), poison, aConversion({ transactionId: 'T2' })])
  await shipBatch(shipment.deps)
  return shipment
}

/** The cause is mended: the record as it should have been. */
async function mend(warehouse: Warehouse): Promise<void> {
  await warehouse.command(
    `ALTER TABLE set_aside UPDATE record = replaceOne(record, {broken:String}, '') WHERE 1
     SETTINGS mutations_sync = 2`,
    { broken: JSON.stringify(loneSurrogate).slice(1, -1) }
  )
}

test('what is set aside is listed with its kind, its receipt and a reason that repeats nothing of it', async (t) => {
  const { warehouse } = await aShipmentWithPoison(t)

  const [found, ...others] = await listSetAside(warehouse, whole)

  assert.deepEqual(others, [])
  assert.equal(found?.type, 'conversion')
  assert.equal(found?.receivedAtMs, poison.receivedAtMs)
  assert.match(found?.place.key ?? '', /^[0-9a-f]{32}$/u)
  assert.ok((found?.reason ?? '') !== '')
  assert.ok(!JSON.stringify(found).includes('secret-order'))
})

test('a replayed record is shipped under its key and receipt, leaves the list, and repeating changes nothing', async (t) => {
  const { deps, warehouse } = await aShipmentWithPoison(t)
  const [found] = await listSetAside(warehouse, whole)
  const keys = [found?.place.key ?? '']
  await mend(warehouse)

  const first = await replaySetAside(deps, keys)
  const after = await snapshot(warehouse)
  const second = await replaySetAside(deps, keys)

  assert.deepEqual(first, { replayed: 1, setAsideAgain: 0, unknown: 0, remaining: 0 })
  assert.deepEqual(second, { replayed: 0, setAsideAgain: 0, unknown: 1, remaining: 0 })
  assert.deepEqual(await snapshot(warehouse), after)
  assert.deepEqual(await listSetAside(warehouse, whole), [])
  const delivered = await warehouse.rows(
    `SELECT lower(hex(delivery_id)) AS key, toUnixTimestamp64Milli(received_at) AS atMs
     FROM delivery FINAL WHERE transaction_id = 'secret-order'`
  )
  assert.deepEqual(delivered, [{ key: keys[0], atMs: poison.receivedAtMs }])
  assert.equal((await counts(warehouse)).aside, 1, 'the story of it stays')
})

test('two replays at once give the rows of one', async (t) => {
  const { deps, warehouse } = await aShipmentWithPoison(t)
  await mend(warehouse)

  await Promise.all([replaySetAside(deps, null), replaySetAside(deps, null)])

  assert.equal((await counts(warehouse)).deliveries, 2)
  assert.equal(await countSetAside(warehouse), 0)
})

test('a record that is refused again waits on behind the others', async (t) => {
  const { deps, warehouse, spool } = await aShipmentWithPoison(t)
  const [first] = await listSetAside(warehouse, whole)
  await append(spool, [aConversion({ transactionId: `${loneSurrogate}3` })])
  await shipBatch(deps)

  const result = await replaySetAside(deps, [first?.place.key ?? ''])

  assert.deepEqual(result, { replayed: 0, setAsideAgain: 1, unknown: 0, remaining: 2 })
  const keys = (await listSetAside(warehouse, whole)).map(({ place }) => place.key)
  assert.equal(keys.length, 2)
  assert.equal(keys[1], first?.place.key)
})

test('bytes that cannot be read stay as they are, and never stand before what can be', async (t) => {
  const { deps, warehouse } = await aShipmentWithPoison(t)
  await mend(warehouse)
  const bytes = Buffer.from('no frame').toString('base64')
  const rows = [
    { key: 'ab'.repeat(16), reason: 'damaged', record: bytes },
    { key: 'cd'.repeat(16), reason: 'later version', record: '{"type":"from-the-future"}' },
  ].map((row) => JSON.stringify({ ...row, set_aside_at: '2026-03-01 00:00:00.000000' }))
  await warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))

  const result = await replaySetAside(deps, null)

  assert.deepEqual(result, { replayed: 1, setAsideAgain: 2, unknown: 0, remaining: 2 })
  const found = await listSetAside(warehouse, whole)
  assert.deepEqual(
    found.map(({ type, reason }) => ({ type, reason })),
    [
      { type: 'frame', reason: 'damaged' },
      { type: 'from-the-future', reason: 'later version' },
    ]
  )
  const records = await warehouse.rows<{ record: string }>(
    `SELECT record FROM set_aside FINAL WHERE key = '${'ab'.repeat(16)}'`
  )
  assert.deepEqual(records, [{ record: bytes }])
})

test('pages concatenate to the whole list', async (t) => {
  const { warehouse } = await aShipment(t)
  const rows = Array.from({ length: 7 }, (_, index) =>
    JSON.stringify({
      key: index.toString(16).padStart(32, '0'),
      reason: 'r',
      record: '{"type":"conversion","receivedAtMs":5}',
      // Some share their instant.
      set_aside_at: `2026-03-01 00:00:0${Math.floor(index / 3)}.000001`,
    })
  )
  await warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))

  const pages = []
  let after: { atMicros: number; key: string } | null = null
  for (;;) {
    const page: Awaited<ReturnType<typeof listSetAside>> = await listSetAside(warehouse, {
      after,
      limit: 2,
    })
    const last = page.at(-1)
    if (last === undefined) break
    pages.push(...page)
    after = last.place
  }

  assert.deepEqual(pages, await listSetAside(warehouse, whole))
  assert.equal(pages.length, 7)
})

const losAngeles = { id: 7, code: 'US', timeZone: 'America/Los_Angeles', currency: 'USD' }

// A market of Los Angeles begins its day eight hours after UTC's: an event of the last evening before
// the boundary was counted in a day that is final.
test('a replayed record is judged by the days of its market', async (t) => {
  const { deps, warehouse } = await aShipment(t)
  const ownKeys = createKeyRing()
  const receivedAtMs = Date.UTC(2026, 2, 10, 5)
  const ad = anAd({ servedAtMs: receivedAtMs - 3_600_000, marketId: 7 })
  await append(deps.spool, [
    anEvent({ receivedAtMs, trackingData: createMinter(ownKeys).mint(ad).trackingData }),
  ])
  await shipBatch(deps)
  await warehouse.command(`INSERT INTO final_before VALUES ('2026-03-10', 'announced', now64(6))`)
  const rowContext = { ...deps.rowContext, openAllTrackingData: createOpener(ownKeys).openAll }

  await replaySetAside({ ...deps, rowContext, markets: () => [losAngeles] }, null)

  const verdicts = await warehouse.rows('SELECT toString(verdict) AS verdict FROM ad_event')
  assert.deepEqual(verdicts, [{ verdict: 'too-late' }])
})

// As earlier programs set it aside: one damaged header took all that followed in its segment along.
test('a replay ships what is whole in a damaged piece once, and only the rest waits on', async (t) => {
  const { deps, warehouse } = await aShipment(t)
  const [one, two, three] = ['one', 'two', 'three'].map((transactionId, index) =>
    anEntry(index + 1, aConversion({ transactionId }))
  )
  assert.ok(one !== undefined && two !== undefined && three !== undefined)
  const piece = Buffer.concat([one.subarray(5), two, Buffer.alloc(64, 7), three])
  const row = {
    key: 'ab'.repeat(16),
    reason: 'damaged',
    record: piece.toString('base64'),
    set_aside_at: '2026-03-01 00:00:00.000000',
  }
  await warehouse.insert('set_aside', Buffer.from(`${JSON.stringify(row)}\n`))

  const first = await replaySetAside(deps, null)
  const again = await replaySetAside(deps, [row.key])

  assert.deepEqual(first, { replayed: 1, setAsideAgain: 0, unknown: 0, remaining: 2 })
  assert.deepEqual(again, { replayed: 0, setAsideAgain: 0, unknown: 1, remaining: 2 })
  assert.deepEqual(
    await warehouse.rows(
      'SELECT transaction_id AS transaction, count() AS n FROM delivery GROUP BY transaction ORDER BY transaction'
    ),
    [
      { transaction: 'three', n: 1 },
      { transaction: 'two', n: 1 },
    ]
  )
  const left = await warehouse.rows<{ bytes: number }>(
    `SELECT length(base64Decode(record)) AS bytes FROM set_aside FINAL WHERE key != {key:String}
     ORDER BY bytes`,
    { key: row.key }
  )
  assert.deepEqual(left, [{ bytes: 64 }, { bytes: one.length - 5 }])
})

function anEntry(serial: number, record: SpoolRecord): Buffer {
  const text = recordText(record)
  const frame = encodeFrame([text], emptyPayloadBytes + textBytes(text))
  return Buffer.concat([encodeEntryHeader(Buffer.alloc(16, serial), frame.length), frame])
}

test("a replay judges by the origin that the delivery had, and one of an earlier program is nobody's", async (t) => {
  const { deps, warehouse } = await aShipment(t)
  const context = { ...deps.rowContext, deliveryJudge: judgeBySource(satisfiesAList) }
  const { origin: _, presentedKey: _none, ...unmarked } = aConversion()
  const records = [
    aConversion({ transactionId: 'backfilled', origin: backfilled }),
    aConversion({ transactionId: 'listed', origin: liveFrom('203.0.113.7') }),
    aConversion({ transactionId: 'reset', origin: liveFrom(null) }),
    { ...unmarked, transactionId: 'early listed', sourceAddress: '203.0.113.7' },
    { ...unmarked, transactionId: 'early nobody', sourceAddress: '' },
  ]
  const rows = records.map((record, index) =>
    JSON.stringify({
      key: String(index).padStart(32, '0'),
      reason: 'refused',
      record: JSON.stringify(record),
      set_aside_at: '2026-03-01 00:00:00.000000',
    })
  )
  await warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))

  await replaySetAside({ ...deps, rowContext: context }, null)

  const verdicts = await warehouse.rows(
    'SELECT transaction_id AS transaction, verdict FROM delivery FINAL ORDER BY transaction'
  )
  assert.deepEqual(verdicts, [
    { transaction: 'backfilled', verdict: 'valid' },
    { transaction: 'early listed', verdict: 'valid' },
    { transaction: 'early nobody', verdict: 'untrusted-source' },
    { transaction: 'listed', verdict: 'valid' },
    { transaction: 'reset', verdict: 'untrusted-source' },
  ])
})

function satisfiesAList({ origin }: { readonly origin: Origin }): boolean {
  return origin.kind === 'backfill' || origin.address === '203.0.113.7'
}
