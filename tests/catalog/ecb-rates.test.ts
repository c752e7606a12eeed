import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRatesHeader, parseRatesLine } from '../../src/catalog/ecb-rates.ts'

function read(header: string, line: string) {
  const parsed = parseRatesHeader(header)
  assert.ok(parsed.ok, header)
  return parseRatesLine(line, { header: parsed.value, lastDay: '2026-04-14' })
}

test('both spellings of the central bank are read: daily with blanks and months, historic without', () => {
  const daily = read('Date, USD, JPY, GBP, ', '13 April 2026, 1.1684, 186.75, 0.87058, ')
  const historic = read('Date,USD,JPY,EEK,GBP,\r', '2026-04-13,1.1684,186.75,N/A,0.87058,\r')

  const value = {
    day: '2026-04-13',
    units: [
      ['USD', '1.1684'],
      ['JPY', '186.75'],
      ['GBP', '0.87058'],
    ],
  }
  assert.deepEqual(daily, { ok: true, value })
  assert.deepEqual(historic, { ok: true, value })
})

test('all currencies for which the bank ever published a rate are read, those that have ended too', () => {
  const currencies =
    'USD,JPY,BGN,CYP,CZK,DKK,EEK,GBP,HUF,LTL,LVL,MTL,PLN,ROL,RON,SEK,SIT,SKK,CHF,ISK,NOK,HRK,RUB,TRL,TRY,AUD,' +
    'BRL,CAD,CNY,HKD,IDR,ILS,INR,KRW,MXN,MYR,NZD,PHP,SGD,THB,ZAR'

  const parsed = parseRatesHeader(`Date,${currencies},`)

  assert.deepEqual(parsed, { ok: true, value: [...currencies.split(','), null] })
})

test('a rate of the last day is taken', () => {
  const parsed = read('Date,USD', '2026-04-14,1.1')

  assert.deepEqual(parsed, { ok: true, value: { day: '2026-04-14', units: [['USD', '1.1']] } })
})

for (const [header, rule] of [
  ['', /Date/],
  ['Day,USD', /Date/],
  ['Date', /a column of a currency/],
  ['Date,,', /a column of a currency/],
  ['Date,usd', /three capitals/],
  ['Date,USD,JPY,USD', /one column only/],
  ['Date,EUR', /euro/],
  ['Date,USD,ABC', /ABC must be an ISO 4217 currency code/],
  ['Date,XAU', /XAU must be an ISO 4217 currency code/],
] as const) {
  test(`a header "${header}" is refused by its rule`, () => {
    const parsed = parseRatesHeader(header)

    assert.ok(!parsed.ok)
    assert.match(parsed.message, rule)
  })
}

for (const [line, rule] of [
  ['2026-02-30,1,2', /date/],
  ['30 February 2026,1,2', /date/],
  ['1 Smarch 2026,1,2', /date/],
  ['1998-12-31,1,2', /not be before 1999-01-01/],
  ['2026-04-15,1,2', /must not lie in the future: at most 2026-04-14/],
  ['15 April 2026,1,2', /must not lie in the future/],
  ['2099-01-02,1,2', /must not lie in the future/],
  ['2026-03-02,1', /3 cells/],
  ['2026-03-02,1,2,3', /3 cells/],
  ['2026-03-02,0,2', /USD must be a positive/],
  ['2026-03-02,-1,2', /USD must be a positive/],
  ['2026-03-02,1e3,2', /USD must be a positive/],
  ['2026-03-02,1,"2', /JPY must be a positive/],
  ['2026-03-02,1.1234567891,2', /USD must be a positive/],
  ['2026-03-02,1,9999999999', /JPY must be a positive/],
] as const) {
  test(`a line "${line}" is refused by its rule`, () => {
    const parsed = read('Date,USD,JPY', line)

    assert.ok(!parsed.ok)
    assert.match(parsed.message, rule)
  })
}
