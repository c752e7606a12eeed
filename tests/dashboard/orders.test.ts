import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commonOf, ordersOf, type CreditedLine } from '../../dashboard/src/orders.ts'

function aLine(changes: CreditedLine = {}): CreditedLine {
  return {
    PUBLISHER_ID: '10',
    TRANSACTION_ID: 'T1',
    LINE: '1',
    RULE: 'VIEW',
    UNITS: '1',
    CONVERSION_VALUE: '0.10',
    CURRENCY: 'EUR',
    ...changes,
  }
}

test('lines of one purchase are one order, whose sums are exact', () => {
  const orders = ordersOf([
    aLine(),
    aLine({ LINE: '2', CONVERSION_VALUE: '0.20', UNITS: '9007199254740993' }),
    aLine({ TRANSACTION_ID: 'T2', RULE: 'DIRECT_CLICK', CONVERSION_VALUE: '0.252000000' }),
    aLine({ PUBLISHER_ID: '11' }),
  ])
  assert.deepEqual(
    orders.map((order) => [order.lines.length, order.units, order.value, commonOf(order, 'RULE')]),
    [
      [2, '9007199254740994', '0.300000000', 'VIEW'],
      [1, '1', '0.252000000', 'DIRECT_CLICK'],
      [1, '1', '0.10', 'VIEW'],
    ]
  )
})

test('purchases without a transaction id are told apart by their instants', () => {
  const nameless = { TRANSACTION_ID: '', PURCHASED_AT: '2026-11-12T12:00:00.000Z' }
  const orders = ordersOf([
    aLine(nameless),
    aLine({ ...nameless, LINE: '2' }),
    aLine({ ...nameless, PURCHASED_AT: '2026-11-12T12:00:00.001Z' }),
  ])
  assert.deepEqual(
    orders.map(({ lines }) => lines.length),
    [2, 1]
  )
})

test('an order has no sum over currencies or over amounts that are missing, and no rule, day or market where its lines have several', () => {
  const other = {
    LINE: '2',
    CURRENCY: 'CHF',
    RULE: 'DIRECT_CLICK',
    MARKET: 'CH',
    DATE: '2026-11-12',
  }
  const [mixed] = ordersOf([aLine(), aLine(other)])
  const [missing] = ordersOf([aLine(), aLine({ LINE: '2', CONVERSION_VALUE: '' })])
  assert.ok(mixed !== undefined)
  assert.equal(mixed.value, null)
  for (const name of ['RULE', 'MARKET', 'DATE']) assert.equal(commonOf(mixed, name), null)
  assert.equal(commonOf(mixed, 'PUBLISHER_ID'), '10')
  assert.equal(missing?.value, null)
  assert.deepEqual(ordersOf([]), [])
})
