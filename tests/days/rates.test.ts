import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays } from '../../src/domain/day.ts'
import { formatDecimal, nanosScale, parseDecimal } from '../../src/domain/money.ts'
import { convertedSql, printUsedRates, withOtherRates } from '../../src/days/rates.ts'
import { seededRandom } from '../helpers/history.ts'
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

test('what lies halfway between two billionths goes to the even one, whatever the rates', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const halves = ['0.000000001', '0.000000002', '0.000000003', '0.000000005', '7.000000007']
  const next = seededRandom(7)
  const random = (max: number): bigint => BigInt(Math.ceil(next() * max))
  const pairs = [
    [2_000_000_000n, 1_000_000_000n],
    [4_000_000_000n, 1_000_000_000n],
    [1n, 9_007_199_254_740_991n],
    [9_007_199_254_740_991n, 1n],
    ...Array.from({ length: 40 }, () => [random(1_000_000_000_000), random(1_000_000_000_000)]),
  ] as const
  const amounts = Array.from({ length: 50 }, () => formatDecimal(random(2 ** 40), 9, 9))
  const values = [...halves, ...amounts]

  for (const [fromNanos, toNanos] of pairs) {
    const rows = await warehouse.rows<{ converted: string }>(
      `SELECT toString(converted) AS converted FROM (${convertedSql(
        'value',
        `SELECT toDecimal128(arrayJoin({values:Array(String)}), 9) AS value, toDate('2026-03-02') AS day,
           'USD' AS currency, 'JPY' AS market_currency`
      )})`,
      {
        values,
        rateKeys: ['', 'USD2026-03-02', 'JPY2026-03-02'],
        rateNanos: [0n, fromNanos, toNanos],
      }
    )

    assert.deepEqual(
      rows.map(({ converted }) => converted),
      values.map((value) => convert(value, fromNanos, toNanos)),
      `${fromNanos} to ${toNanos}`
    )
  }
})

const firstDay = '2025-01-01'

function ratesOf(nanos: Readonly<Record<string, bigint>>) {
  const asked: string[] = []
  return {
    asked,
    find: (currency: string, day: string) => {
      asked.push(`${currency} ${day}`)
      return nanos[currency] ?? null
    },
  }
}

test('a seal says the rates of the currencies it used and of no other, and which were wanting', () => {
  const rates = ratesOf({ USD: 2n, GBP: 3n })

  const used = (currencies: readonly string[]) =>
    printUsedRates({ day: firstDay, currencies }, rates)

  assert.equal(used([]), '')
  assert.equal(used(['USD', 'EUR', 'USD']), '{"USD":"2"}')
  assert.equal(used(['USD', 'CHF']), '{"CHF":null,"USD":"2"}')
})

test('another currency that is loaded changes nothing, a better rate and one that was wanting do', () => {
  const seals = [
    { day: firstDay, rates: '{"USD":"2"}' },
    { day: addDays(firstDay, 1), rates: '{"CHF":null}' },
  ]

  assert.deepEqual(withOtherRates(seals, ratesOf({ USD: 2n, GBP: 3n })), [])
  assert.deepEqual(withOtherRates(seals, ratesOf({ USD: 4n })), [seals[0]])
  assert.deepEqual(withOtherRates(seals, ratesOf({ USD: 2n, CHF: 1n })), [seals[1]])
})

test('20 markets with 400 days ask for the rate of a day once, not 8,000 times', () => {
  const seals = Array.from({ length: 20 }, () =>
    Array.from({ length: 400 }, (_, index) => ({
      day: addDays(firstDay, index),
      rates: '{"USD":"2"}',
    }))
  ).flat()
  const rates = ratesOf({ USD: 2n })

  assert.deepEqual(withOtherRates(seals, rates), [])
  assert.equal(rates.asked.length, 400)
})
