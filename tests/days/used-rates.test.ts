import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays } from '../../src/domain/day.ts'
import { printUsedRates, withOtherRates } from '../../src/days/used-rates.ts'

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
