import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDecimal, nanosScale, parseDecimal } from '../../src/domain/money.ts'
import { convertedSql } from '../../src/days/rates.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const rateNanos = { USD: 1_168_400_000n, JPY: 186_750_000_000n }

/** Half even, in plain integers. */
function convert(value: string, fromNanos: bigint, toNanos: bigint): string {
  const product = (parseDecimal(value, nanosScale) ?? 0n) * toNanos
  const floor = product / fromNanos
  const doubled = (product % fromNanos) * 2n
  const isUp = doubled > fromNanos || (doubled === fromNanos && floor % 2n === 1n)
  return formatDecimal(floor + (isUp ? 1n : 0n), nanosScale, nanosScale).replace(/\.?0+$/u, '')
}

test('amounts of every size are converted exactly, from a billionth to the largest line there is', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const values = [
    '0.000000001',
    '0.5',
    '9.999999999',
    '11.684',
    '1168.4',
    '123456789.123456789',
    '1000000000000',
  ]

  for (const [from, to] of [
    ['USD', 'EUR'],
    ['EUR', 'JPY'],
    ['JPY', 'USD'],
  ] as const) {
    const rows = await warehouse.rows<{ converted: string }>(
      `SELECT toString(converted) AS converted FROM (${convertedSql(
        'value',
        `SELECT toDecimal128(arrayJoin({values:Array(String)}), 9) AS value, toDate('2026-03-02') AS day,
           {from:String} AS currency, {to:String} AS market_currency`
      )}) ORDER BY value`,
      {
        values,
        from,
        to,
        rateKeys: ['', 'USD2026-03-02', 'JPY2026-03-02'],
        rateNanos: [0n, rateNanos.USD, rateNanos.JPY],
      }
    )
    const nanosOf = (currency: 'USD' | 'EUR' | 'JPY') =>
      currency === 'EUR' ? 1_000_000_000n : rateNanos[currency]

    assert.deepEqual(
      rows.map(({ converted }) => converted),
      values.map((value) => convert(value, nanosOf(from), nanosOf(to)))
    )
  }
})
