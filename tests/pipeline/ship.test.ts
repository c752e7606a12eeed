import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clickCountableMs, crowdWindowMs, earlyToleranceMs } from '../../src/domain/windows.ts'
import type { RowContext } from '../../src/pipeline/rows.ts'
import { insertRecords } from '../../src/pipeline/insert-batch.ts'
import { shipLimits } from '../../src/pipeline/ship.ts'
import type { AdEventRecord } from '../../src/spool/record.ts'
import {
  activateKey,
  addKey,
  createKeyRing,
  createMinter,
  createOpener,
  removeKey,
} from '../../src/tracking-data/tracking-data.ts'
import {
  aConversion,
  aLine,
  anEvent,
  append,
  aShipment,
  counts,
  elsewhere,
  failing,
  hashIdentity,
  mint,
  openTrackingData,
  readAside,
  readPending,
  snapshot,
  withRemove,
  shipBatch,
} from '../helpers/shipment.ts'
import { anAd, servedAtMs } from '../tracking-data/builders.ts'
import { entriesOf } from '../helpers/spooled.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** JSON writes it as an escape that the warehouse cannot read; one refuses the insert it is in. */
const loneSurrogate = '\ud800'

test('what is shipped leaves the spool and stands in the warehouse', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  await append(spool, [anEvent(), anEvent({ kind: 'impression' }), aConversion()])

  const result = await shipBatch(deps)

  assert.deepEqual(result, { shippedCount: 3, setAsideCount: 0, contradictions: [] })
  assert.equal(spool.depth().bytes, 0)
  assert.deepEqual(await counts(warehouse), { events: 2, touchpoints: 4, deliveries: 1, aside: 0 })
})

test('an empty spool ships nothing and asks the warehouse nothing', async (t) => {
  const { deps } = await aShipment(t)
  const warehouse = failing(deps.warehouse, () => true)

  assert.deepEqual(await shipBatch({ ...deps, warehouse }), {
    shippedCount: 0,
    setAsideCount: 0,
    contradictions: [],
  })
})

test('a batch takes the oldest records and leaves the rest for the next', async (t) => {
  const { deps, spool } = await aShipment(t)
  const click = anEvent()
  const records = Array.from({ length: shipLimits.recordsPerBatchMax + 1_500 }, () => click)
  await append(spool, records)

  const first = await shipBatch(deps)
  const second = await shipBatch(deps)

  // Whole frames are read, of 1,000 records at most.
  assert.ok(first.shippedCount >= shipLimits.recordsPerBatchMax)
  assert.ok(first.shippedCount < shipLimits.recordsPerBatchMax + 1_000)
  assert.equal(first.shippedCount + second.shippedCount, records.length)
  assert.equal(spool.depth().bytes, 0)
})

test('a batch that is shipped again after a crash before its removal counts once', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  await append(spool, [
    anEvent(),
    anEvent({ kind: 'impression' }),
    anEvent({ kind: 'load' }),
    aConversion({ transactionId: 'T1' }),
    aConversion({ transactionId: '' }),
    aConversion({ transactionId: loneSurrogate }),
  ])
  const crashing = withRemove(spool, () => Promise.reject(new Error('crash')))

  await assert.rejects(shipBatch({ ...deps, spool: crashing }), /crash/u)
  const once = await snapshot(warehouse)
  const result = await shipBatch(deps)

  assert.deepEqual(result, { shippedCount: 6, setAsideCount: 1, contradictions: [] })
  assert.deepEqual(await snapshot(warehouse), once)
  assert.deepEqual(await counts(warehouse), { events: 3, touchpoints: 4, deliveries: 2, aside: 1 })
})

for (const statement of [
  'ad_event_in',
  'late_touchpoint_in',
  'pending_purchase',
  'delivery_in',
  'set_aside',
]) {
  test(`a batch that stops at ${statement} leaves the spool, and the next try completes it`, async (t) => {
    const { deps, spool, warehouse } = await aShipment(t)
    const records = [anEvent(), aConversion(), aConversion({ transactionId: loneSurrogate })]
    await append(spool, records)
    const broken = failing(warehouse, (sql) => sql.includes(statement))

    await assert.rejects(shipBatch({ ...deps, warehouse: broken }), {
      code: 'WAREHOUSE_UNAVAILABLE',
    })
    assert.equal(entriesOf(spool.read(10)).length, records.length)
    await shipBatch(deps)

    assert.equal(spool.depth().bytes, 0)
    const expected = { events: 1, touchpoints: 2, deliveries: 1, aside: 1 }
    assert.deepEqual(await counts(warehouse), expected)
  })
}

test('rows that the warehouse refuses are set aside whole, and all others are in', async (t) => {
  const { deps, spool, warehouse, frames } = await aShipment(t)
  const records = Array.from({ length: 60 }, (_, index) =>
    aConversion({
      transactionId: [7, 8, 41].includes(index) ? `${loneSurrogate}${index}` : `T${index}`,
    })
  )
  await append(spool, records)
  const [frameKey] = frames.keys()

  const result = await shipBatch(deps)

  assert.deepEqual(result, { shippedCount: 60, setAsideCount: 3, contradictions: [] })
  assert.equal((await counts(warehouse)).deliveries, 57)
  const aside = await readAside(warehouse)
  assert.deepEqual(
    aside.map(({ record }) => JSON.parse(record) as unknown),
    [records[7], records[8], records[41]]
  )
  assert.ok(aside.every(({ key }) => key.startsWith(frameKey?.slice(0, 24) ?? 'none')))
  for (const { reason } of aside) assert.match(reason, /Code: \d+\. DB::Exception/u)
})

test('a refused ad event is set aside and does not hold up the deliveries of its batch', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const good = mint(anAd())
  const bad = mint(anAd())
  const rowContext: RowContext = {
    ...deps.rowContext,
    openAllTrackingData: (texts) =>
      texts.map((text) => {
        const opened = openTrackingData(text)
        if (!opened.ok || text !== bad.trackingData) return opened
        return { ...opened, data: { ...opened.data, groupId: loneSurrogate } }
      }),
  }
  await append(spool, [
    anEvent({ trackingData: bad.trackingData }),
    anEvent({ trackingData: good.trackingData }),
    aConversion(),
  ])

  const result = await shipBatch({ ...deps, rowContext })

  assert.deepEqual(result, { shippedCount: 3, setAsideCount: 1, contradictions: [] })
  assert.deepEqual(await counts(warehouse), { events: 1, touchpoints: 2, deliveries: 1, aside: 1 })
})

test('a warehouse that is away leaves the whole batch in the spool and sets nothing aside', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  await append(spool, [anEvent(), aConversion({ transactionId: loneSurrogate })])
  const before = entriesOf(spool.read(10))

  await assert.rejects(shipBatch({ ...deps, warehouse: failing(warehouse, () => true) }), {
    code: 'WAREHOUSE_UNAVAILABLE',
  })

  assert.deepEqual(entriesOf(spool.read(10)), before)
  assert.deepEqual(await counts(warehouse), { events: 0, touchpoints: 0, deliveries: 0, aside: 0 })
})

test('a broken frame is set aside as its bytes, and the frames around it are shipped', async (t) => {
  const { deps, spool, warehouse, frames } = await aShipment(t)
  await append(spool, [aConversion({ transactionId: 'before' })])
  await append(spool, [aConversion({ transactionId: 'after' })])
  const key = `${'f'.repeat(31)}0`
  const bytes = Buffer.from([1, 0, 0, 255, 10, 0, 0])
  frames.set(key, bytes)

  const result = await shipBatch(deps)

  assert.deepEqual(result, { shippedCount: 3, setAsideCount: 1, contradictions: [] })
  assert.equal(spool.depth().bytes, 0)
  assert.deepEqual(await readAside(warehouse), [
    { key, reason: 'shorter than its header', record: bytes.toString('base64') },
  ])
  assert.equal((await counts(warehouse)).deliveries, 2)
})

test('a token whose key left the ring is set aside, and those of other keys are in', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const older = createKeyRing()
  const both = addKey(older)
  const newer = activateKey(both, both.keys[1]?.id ?? '')
  const left = anEvent({ trackingData: createMinter(older).mint(anAd()).trackingData })
  const kept = anEvent({ trackingData: createMinter(newer).mint(anAd()).trackingData })
  const { openAll } = createOpener(removeKey(newer, older.active))
  await append(spool, [left, kept])

  const rowContext = { ...deps.rowContext, openAllTrackingData: openAll }
  const result = await shipBatch({ ...deps, rowContext })

  assert.deepEqual(result, { shippedCount: 2, setAsideCount: 1, contradictions: [] })
  const [aside] = await readAside(warehouse)
  assert.match(aside?.reason ?? '', /its key has left the key ring/u)
  const { userAgent: _agent, ...judged } = left
  assert.deepEqual(
    { ...JSON.parse(aside?.record ?? ''), userAgent: '' },
    { ...judged, userAgent: '' }
  )
  assert.equal((await counts(warehouse)).events, 1)
})

test('an ad event that another version wrote without its token is set aside alone', async (t) => {
  const { deps, warehouse } = await aShipment(t)
  const { trackingData: _, ...withoutToken } = anEvent()
  const foreign: AdEventRecord = JSON.parse(JSON.stringify(withoutToken))
  const entries = [anEvent(), foreign, anEvent({ kind: 'impression' })].map((record, index) => ({
    key: String(index).padStart(32, '0'),
    record,
  }))

  const refusals = await insertRecords(deps, () => [{ entries, broken: [] }])

  assert.deepEqual(
    refusals.map(({ key }) => key),
    [entries[1]?.key]
  )
  assert.deepEqual(await counts(warehouse), { events: 2, touchpoints: 4, deliveries: 0, aside: 1 })
})

test('every event keeps its verdict, and only what counts is a touchpoint', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const cases = {
    counted: anEvent(),
    early: anEvent({ receivedAtMs: servedAtMs - 300_001 }),
    expired: anEvent({ receivedAtMs: servedAtMs + 8 * dayMs }),
    bot: anEvent({ userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' }),
    prefetch: anEvent({ isPrefetch: true }),
  }
  await append(spool, [...Object.values(cases), anEvent({ kind: 'load' })])

  await shipBatch(deps)

  const events = await warehouse.rows<{ verdict: string; n: number }>(
    'SELECT verdict, count() AS n FROM ad_event FINAL GROUP BY verdict ORDER BY toString(verdict)'
  )
  assert.deepEqual(events, [
    { verdict: 'bot', n: 1 },
    { verdict: 'counted', n: 2 },
    { verdict: 'early', n: 1 },
    { verdict: 'expired', n: 1 },
    { verdict: 'prefetch', n: 1 },
  ])
  assert.equal((await counts(warehouse)).touchpoints, 2)
})

for (const order of [
  [3, 1, 2],
  [1, 2, 3],
  [2, 3, 1],
]) {
  test(`the earliest receipt of an event counts when they come as ${order.join(', ')}`, async (t) => {
    const { deps, spool, warehouse } = await aShipment(t)
    const { trackingData } = mint(anAd())

    for (const hours of order) {
      await append(spool, [anEvent({ trackingData, receivedAtMs: servedAtMs + hours * hourMs })])
      await shipBatch(deps)
    }

    const first = '2026-03-02 11:00:00.000'
    const received = 'SELECT toString(received_at) AS at FROM'
    assert.deepEqual(await warehouse.rows(`${received} ad_event FINAL`), [{ at: first }])
    assert.deepEqual(await warehouse.rows(`${received} touchpoint FINAL`), [
      { at: first },
      { at: first },
    ])
  })
}

test('the earliest delivery wins a purchase whatever the order, and every delivery is kept', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)

  for (const hours of [5, 3, 4]) {
    await append(spool, [aConversion({ receivedAtMs: servedAtMs + hours * hourMs })])
    await shipBatch(deps)
  }

  const sql = 'SELECT toString(min(first.1)) AS at FROM purchase GROUP BY purchase_key'
  assert.deepEqual(await warehouse.rows(sql), [{ at: '2026-03-02 13:00:00.000' }])
  assert.equal((await counts(warehouse)).deliveries, 3)
})

test('a delivery from an untrusted source is kept and makes no purchase', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  await append(spool, [aConversion({ origin: elsewhere })])

  await shipBatch(deps)

  assert.deepEqual(await warehouse.rows('SELECT verdict FROM delivery FINAL'), [
    { verdict: 'untrusted-source' },
  ])
  for (const table of ['purchase', 'purchase_identity', 'pending_purchase']) {
    assert.deepEqual(await warehouse.rows(`SELECT count() AS n FROM ${table}`), [{ n: 0 }], table)
  }
})

test('deliveries without a transaction are purchases of their own, equal ones are one', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const transactions = ['', '', ' ', 'T1', 'T1']
  await append(
    spool,
    transactions.map((transactionId) => aConversion({ transactionId }))
  )

  await shipBatch(deps)

  const sql = 'SELECT uniqExact(purchase_key) AS n FROM'
  assert.deepEqual(await warehouse.rows(`${sql} purchase`), [{ n: 4 }])
  assert.deepEqual(await warehouse.rows(`${sql} pending_purchase`), [{ n: 4 }])
})

test('lines keep their verdict, their price and their exact value', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const lines = [
    aLine({ gtin: ' 4006381333931 ', price: 19.99, quantity: 3 }),
    aLine({ gtin: '\t' }),
    aLine({ price: -5 }),
    aLine({ price: 1e12, quantity: 2 }),
    aLine({ price: 0.1, quantity: 3 }),
  ]
  await append(spool, [aConversion({ lines })])

  await shipBatch(deps)

  const sql = `SELECT line_verdict AS verdicts, line_gtin_key AS keys, line_price AS prices,
    arrayMap(v -> toString(v), line_value) AS values FROM delivery FINAL`
  const key = '04006381333931'
  assert.deepEqual(await warehouse.rows(sql), [
    {
      verdicts: ['valid', 'no-product', 'out-of-range', 'out-of-range', 'valid'],
      keys: [key, '', key, key, key],
      prices: [19.99, 19.99, -5, 1e12, 0.1],
      values: ['59.97', '19.99', '0', '0', '0.3'],
    },
  ])
})

test('a late touchpoint makes the purchases behind it pending again, and only those', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const touchedAtMs = servedAtMs + hourMs
  // An earlier receipt takes the credit of a repeat up to 7 days behind it as well.
  const lastMs = touchedAtMs + crowdWindowMs + clickCountableMs + earlyToleranceMs
  const other = hashIdentity('user', 10, 'user-2')
  await append(spool, [
    aConversion({ transactionId: 'before', receivedAtMs: touchedAtMs - 1 }),
    aConversion({ transactionId: 'same instant', receivedAtMs: touchedAtMs }),
    aConversion({ transactionId: 'last instant', receivedAtMs: lastMs }),
    aConversion({ transactionId: 'after', receivedAtMs: lastMs + 1 }),
    aConversion({ transactionId: 'other person', userIdentity: other, loginIdentity: '' }),
    aConversion({ transactionId: 'other publisher', publisherId: 11 }),
    aConversion({
      transactionId: 'by login',
      userIdentity: other,
      loginIdentity: hashIdentity('login', 10, 'customer-1'),
    }),
  ])
  await shipBatch(deps)
  const pendingBefore = await readPending(warehouse)

  await append(spool, [anEvent({ receivedAtMs: touchedAtMs })])
  await shipBatch(deps)

  assert.equal(pendingBefore.length, 7)
  const again = (await readPending(warehouse)).filter(({ n }) => n > 1)
  assert.deepEqual(
    again.map(({ transaction }) => transaction),
    ['by login', 'last instant', 'same instant']
  )
})

test('a touchpoint that is shipped within the settling time makes nothing pending again', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const nowMs = Date.now()
  const { trackingData } = mint(anAd({ servedAtMs: nowMs - hourMs }))
  await append(spool, [aConversion({ receivedAtMs: nowMs })])
  await shipBatch(deps)

  await append(spool, [anEvent({ trackingData, receivedAtMs: nowMs })])
  await shipBatch({ ...deps, settleMs: hourMs })

  assert.deepEqual(await readPending(warehouse), [{ transaction: 'T1', n: 1 }])
  assert.deepEqual(await warehouse.rows('SELECT count() AS n FROM late_touchpoint'), [{ n: 0 }])
})

test('events that are no touchpoint make nothing pending again, however late', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  await append(spool, [aConversion()])
  await shipBatch(deps)

  await append(spool, [anEvent({ kind: 'load' }), anEvent({ isPrefetch: true })])
  await shipBatch(deps)

  assert.deepEqual(await readPending(warehouse), [{ transaction: 'T1', n: 1 }])
})
