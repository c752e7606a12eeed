// The rows that are inserted as text written by hand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nothingIsTooLate } from '../../src/days/final-days.ts'
import { createCallerReader } from '../../src/domain/caller.ts'
import { priceNanos } from '../../src/domain/money.ts'
import {
  adEventColumns,
  adEventValues,
  deliveryColumns,
  deliveryValues,
  returnColumns,
  returnValues,
} from '../../src/pipeline/row-text.ts'
import { buildDeliveryRow, buildReturnRow, planAdEventRow } from '../../src/pipeline/rows.ts'
import type { BatchContext } from '../../src/pipeline/rows.ts'
import { emptyRules } from '../helpers/empty-catalog.ts'
import {
  aConversion,
  anEvent,
  aReturn,
  hashIdentity,
  judgeBySource,
  openTrackingData,
} from '../helpers/shipment.ts'

const context: BatchContext = {
  hashIdentity,
  deliveryJudge: judgeBySource(() => true),
  callerOf: createCallerReader(),
  ...emptyRules,
  tooLate: nothingIsTooLate,
}
const key = '0123456789abcdef'.repeat(2)
/** Escapes of JSON, lone surrogates, other alphabets, digits that look like numbers. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('', '"', '\\', '\n\t\u0000', '\ud800', 'ä漢😀', '\u2028', '0x1', '1e5')
)
const price = fc.double({ min: 0, max: 1e9, noNaN: true })
const lines = fc.array(
  fc.record({
    gtin: text,
    groupId: text,
    brand: text,
    price: fc.oneof(price, fc.constantFrom(0, -0, 1e-7, 1e21, 5e-324, -1)),
    quantity: fc.integer(),
  }),
  { maxLength: 5 }
)

function assertSame(row: object, columns: readonly string[], values: string): void {
  assert.deepEqual([...columns].toSorted(), Object.keys(row).toSorted())
  const expected = columns.map((column) => Reflect.get(row, column) as unknown)
  assert.equal(`[${values}]`, JSON.stringify(expected))
}

test('the values of a delivery are the JSON of its row, whatever its texts and numbers', () => {
  fc.assert(
    fc.property(text, lines, text, (transactionId, ofLines, address) => {
      const record = aConversion({
        transactionId,
        lines: ofLines,
        origin: { kind: 'live', address },
      })
      const row = buildDeliveryRow(key, record, context)
      assertSame(row, deliveryColumns, deliveryValues(row))
    })
  )
})

test('the values of an ad event are the JSON of its row, whatever its texts', () => {
  const record = anEvent()
  const opened = openTrackingData(record.trackingData)
  assert.ok(opened.ok)
  fc.assert(
    fc.property(text, text, text, (gtin, groupId, currency) => {
      const data = { ...opened.data, gtin, groupId, currency }
      const row = planAdEventRow(record, { ...opened, data }, context)?.row
      assert.ok(row !== undefined)
      assertSame(row, adEventColumns, adEventValues(row))
    })
  )
})

test('the values of a return are the JSON of its row', () => {
  fc.assert(
    fc.property(text, text, (returnId, gtin) => {
      const row = buildReturnRow(
        key,
        aReturn({ returnId, lines: [{ gtin, quantity: 2 }] }),
        context
      )
      assertSame(row, returnColumns, returnValues(row))
    })
  )
})

test('a price keeps its shortest text on its way into the warehouse', () => {
  const row = buildDeliveryRow(
    key,
    aConversion({ lines: [{ gtin: '1', groupId: '', brand: '', price: 19.99, quantity: 3 }] }),
    context
  )

  assert.match(deliveryValues(row), /\[19\.99\],\[3\],\["59\.970000000"\]/u)
  assert.equal(priceNanos(19.99), 19_990_000_000n)
})
