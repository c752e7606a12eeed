import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyRules } from '../helpers/empty-catalog.ts'
import { buildReturnRow } from '../../src/pipeline/rows.ts'
import { nothingIsTooLate } from '../../src/days/final-days.ts'
import { aReturn, judgeBySource } from '../helpers/shipment.ts'

const gtin = '4006381333931'

test('a return has the key of its purchase, and a key of its own by publisher, transaction and id', () => {
  const context = {
    tooLate: nothingIsTooLate,
    hashIdentity: () => '',
    deliveryJudge: judgeBySource(() => true),
    callerOf: () => 'ordinary' as const,
    ...emptyRules,
  }
  const build = (changes: Parameters<typeof aReturn>[0]) =>
    buildReturnRow('00'.repeat(16), aReturn(changes), context)
  const row = build({ lines: [{ gtin: `${gtin} `, quantity: 2 }] })

  assert.deepEqual(row.line_gtin, [`${gtin} `])
  assert.deepEqual(row.line_gtin_key, [`0${gtin}`])
  assert.deepEqual(row.line_quantity, [2])
  assert.equal(row.purchase_key, build({ returnId: 'R2' }).purchase_key)
  const keys = [{}, { returnId: 'R2' }, { transactionId: 'T2' }, { publisherId: 11 }].map(
    (changes) => build(changes).return_key
  )
  assert.equal(new Set(keys).size, 4)
})
