import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRatesHeader, parseRatesLine } from '../../src/catalog/ecb-rates.ts'

function read(header: string, line: string) {
  const parsed = parseRatesHeader(header)
  assert.ok(parsed.ok, header)
  return parseRatesLine(line, parsed.value)
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

for (const [header, rule] of [
  ['', /Date/],
  ['Day,USD', /Date/],
  ['Date', /a column of a currency/],
  ['Date,,', /a column of a currency/],
  ['Date,usd', /three capitals/],
  ['Date,USD,JPY,USD', /one column only/],
  ['Date,EUR', /euro/],
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
  ['1998-12-31,1,2', /from 1999-01-01 to 2100-12-31/],
  ['1 January 2101,1,2', /from 1999-01-01 to 2100-12-31/],
  ['2026-03-02,1', /3 cells/],
  ['2026-03-02,1,2,3', /3 cells/],
  ['2026-03-02,0,2', /USD must be a positive/],
  ['2026-03-02,-1,2', /USD must be a positive/],
  ['2026-03-02,1e3,2', /USD must be a positive/],
  ['2026-03-02,1,"2"', /JPY must be a positive/],
  ['2026-03-02,1.1234567891,2', /USD must be a positive/],
  ['2026-03-02,1,9999999999', /JPY must be a positive/],
] as const) {
  test(`a line "${line}" is refused by its rule`, () => {
    const parsed = read('Date,USD,JPY', line)

    assert.ok(!parsed.ok)
    assert.match(parsed.message, rule)
  })
}
