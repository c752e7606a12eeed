import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { recordText } from '../../src/spool/frame.ts'
import type { AdEventRecord } from '../../src/spool/record.ts'

test('the text of an ad event is the JSON of it, whatever the user agent holds', () => {
  const record: fc.Arbitrary<AdEventRecord> = fc.record({
    type: fc.constant('ad-event'),
    kind: fc.constantFrom('impression', 'click', 'load'),
    receivedAtMs: fc.integer({ min: 0, max: 2 ** 47 }),
    trackingData: fc.base64String().map((text) => text.replace(/[+/=]/g, '_')),
    userAgent: fc.string({ unit: 'binary' }),
    isPrefetch: fc.boolean(),
  })
  fc.assert(fc.property(record, (event) => assert.equal(recordText(event), JSON.stringify(event))))
})
