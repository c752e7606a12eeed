import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeFrame, emptyPayloadBytes, encodeFrame, textBytes } from '../../src/spool/frame.ts'
import { callers } from '../../src/domain/caller.ts'
import { backfilled, liveFrom, readRecord } from '../../src/spool/record.ts'
import type { AdEventRecord, ConversionRecord } from '../../src/spool/record.ts'
import { recordText } from '../../src/spool/record-text.ts'
import { aReturn } from '../helpers/shipment.ts'

test('the text of an ad event is the JSON of it, whatever the user agent holds', () => {
  const record: fc.Arbitrary<AdEventRecord> = fc.record({
    type: fc.constant('ad-event'),
    kind: fc.constantFrom('impression', 'click', 'load'),
    receivedAtMs: fc.integer({ min: 0, max: 2 ** 47 }),
    trackingData: fc.base64String().map((text) => text.replace(/[+/=]/g, '_')),
    userAgent: fc.string({ unit: 'binary' }),
    isPrefetch: fc.boolean(),
  })
  fc.assert(
    fc.property(record, fc.constantFrom(...callers), (event, caller) => {
      for (const judged of [
        event,
        { ...event, caller },
        { ...event, caller, dataCentreList: '0123456789ab' },
        { ...event, isBot: caller === 'bot' },
      ]) {
        assert.equal(recordText(judged), JSON.stringify(judged))
      }
    })
  )
})

test('the text of a conversion is the JSON of it, whatever the shop sends', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '"', '\\', '\ud800', '\udfff\ud800')
  )
  const hex = fc.constantFrom('', '0123456789abcdef0123456789abcdef')
  const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
  const price = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, 1e21, 1e-7, 5e-324, 19.99)
  )
  const record: fc.Arbitrary<ConversionRecord> = fc.record({
    type: fc.constant('conversion'),
    receivedAtMs: fc.integer({ min: 0, max: 2 ** 47 }),
    publisherId: int32,
    siteId: int32,
    transactionId: text,
    userIdentity: hex,
    loginIdentity: hex,
    currency: fc.constantFrom('EUR', 'JPY'),
    lines: fc.array(fc.record({ gtin: text, groupId: text, brand: text, price, quantity: int32 }), {
      maxLength: 4,
    }),
    origin: fc.constantFrom(backfilled, liveFrom(null), liveFrom('fe80::1%eth0')),
    presentedKey: fc.constantFrom('none', 'malformed', 'ab'.repeat(32)),
  })
  fc.assert(
    fc.property(record, (conversion) => {
      assert.equal(recordText(conversion), JSON.stringify(conversion))
    })
  )
})

// They wait in spools and in what was set aside; an empty address was a backfill or a lost connection.
test('a delivery that was written without an origin is a live one, with its address or with none', () => {
  for (const type of ['conversion', 'return'] as const) {
    const written = { type, receivedAtMs: 1, publisherId: 10, transactionId: 't', lines: [] }
    const origins = ['198.51.100.7', '', undefined].map((sourceAddress) => {
      const record = readRecord({ ...written, sourceAddress })
      assert.ok(record !== null && record.type !== 'ad-event')
      assert.ok(!('sourceAddress' in record))
      assert.equal(record.presentedKey, 'none')
      return record.origin
    })
    assert.deepEqual(origins, [liveFrom('198.51.100.7'), liveFrom(null), liveFrom(null)])
  }
})

test('a delivery that was written before there were keys came with none', () => {
  const { presentedKey: _, ...written } = aReturn({ origin: liveFrom('::1') })

  assert.deepEqual(readRecord(written), { ...written, presentedKey: 'none' })
})

test('a frame brings deliveries back with the origin they had', () => {
  const records = [backfilled, liveFrom(null), liveFrom('::1')].map((origin) => aReturn({ origin }))
  const texts = records.map(recordText)
  const bytes = emptyPayloadBytes + texts.reduce((sum, text) => sum + textBytes(text), 0)

  assert.deepEqual(decodeFrame(encodeFrame(texts, bytes)), { ok: true, records })
})
