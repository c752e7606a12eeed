import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  chooseCurrency,
  currencyChoices,
  currencyParameter,
  keepingCurrency,
  readCurrency,
  targetOf,
  unknownLast,
} from '../../dashboard/src/shown-currency.ts'

const own = new Map([
  ['EUR', ''],
  ['GBP', ''],
])

test('all currencies in one are offered where there are several, in each of them and in euros', () => {
  assert.deepEqual(currencyChoices(['JPY']), ['JPY'])
  assert.deepEqual(currencyChoices(['JPY', 'GBP', '']), [
    'JPY',
    'GBP',
    '',
    'all-JPY',
    'all-GBP',
    'all-EUR',
  ])
  assert.deepEqual(['all-EUR', 'all-eur', 'all-XXX', 'EUR', '', null].map(targetOf), [
    'EUR',
    null,
    null,
    null,
    null,
    null,
  ])
})

function shownOf(chosen: string | null, found: readonly string[]) {
  return chooseCurrency(chosen, { found, own }).shown
}

test('a currency of the markets that was chosen stays, also where the period has no figures in it', () => {
  const euros = { code: 'EUR', isConverted: false }
  for (const found of [['EUR', 'GBP'], ['GBP', 'EUR'], ['GBP'], []]) {
    assert.deepEqual(shownOf('EUR', found), euros, found.join())
    assert.deepEqual(shownOf('all-EUR', found), { ...euros, isConverted: true }, found.join())
  }
  assert.deepEqual(shownOf(null, ['GBP', 'EUR']), { code: 'GBP', isConverted: false })
  // Of another advertiser, or misspelt.
  assert.deepEqual(shownOf('JPY', ['GBP', 'EUR']), { code: 'GBP', isConverted: false })
})

test('what is shown is among the choices, and goes along with whatever the reader does next', () => {
  for (const chosen of [null, '', 'EUR', 'GBP', 'all-GBP', 'JPY']) {
    for (const found of [['GBP', 'EUR', ''], ['GBP'], []]) {
      const currencies = chooseCurrency(chosen, { found, own })
      const { choices, choice } = currencies
      assert.ok(choice === null ? choices.length === 0 : choices.includes(choice))
      assert.equal(new Set(choices).size, choices.length)
      const next = keepingCurrency(new URLSearchParams('page=2'), currencies)
      const kept = readCurrency(next.get('currency'))
      assert.equal(next.get('page'), '2')
      assert.equal(kept, choices.length > 1 ? choice : null)
    }
  }
})

test('figures without a currency are shown by themselves last, and have a word in the address', () => {
  assert.deepEqual(unknownLast(['', 'GBP', 'EUR']), ['GBP', 'EUR', ''])
  assert.equal(readCurrency(currencyParameter('')), '')
  assert.notEqual(currencyParameter(''), '')
  assert.equal(readCurrency(currencyParameter('EUR')), 'EUR')
  assert.equal(readCurrency(null), null)
})
