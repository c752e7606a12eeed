import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRow } from '../../src/domain/csv.ts'
import { fileNameOf, forSpreadsheet } from '../../dashboard/src/csv.ts'

const parts = {
  advertiser: 'Velmora Coffee',
  rows: 'products',
  currency: 'EUR',
  startDate: '2026-10-01',
  endDate: '2026-11-28',
  profile: 'IMP_1_DAY_CLK_14_DAYS',
} as const

test('a file is named by whose figures it has, of what, in which currency, of which days, and how they are counted', () => {
  assert.equal(
    fileNameOf(parts),
    'velmora-coffee_products_EUR_2026-10-01_2026-11-28_clicks14-impressions1.csv'
  )
  const strange = { ...parts, advertiser: '../Söhne & Co: "A/B"', currency: null }
  assert.equal(
    fileNameOf({ ...strange, profile: 'IMP_1_DAY' }),
    'söhne-co-a-b_products_2026-10-01_2026-11-28_impressions1.csv'
  )
  assert.equal(fileNameOf({ ...parts, advertiser: '!!!' }).startsWith('products_EUR'), true)
  assert.ok(fileNameOf({ ...parts, advertiser: 'x'.repeat(500) }).length < 200)
})

const rules = {
  decimalPoint: '.',
  listSeparator: ',' as ',' | ';',
  isFigure: (column: string) => column === 'CLICKS' || column === 'CONVERSION_VALUE',
  isDate: (column: string) => column === 'DATE' || column === 'PURCHASED_AT',
}
const header = 'GTIN,PRODUCT_TITLE,CLICKS,CONVERSION_VALUE\r\n'
const csv = `${header}049000000054,"Tea, green",3,10.50\r\n`

test('for Excel identifiers are texts, which keep their leading zeros, and the file says that it is UTF-8', () => {
  assert.equal(
    forSpreadsheet(csv, rules),
    `\uFEFF${header}"=""049000000054""","Tea, green",3,10.50\r\n`
  )
})

test('columns are separated as the reader has it, whatever decimals have, and texts with a separator are quoted', () => {
  const text = csv.replace('"Tea, green"', 'Tea; green')
  const semicolons = { ...rules, listSeparator: ';' } as const
  const [, line] = forSpreadsheet(text, { ...semicolons, decimalPoint: ',' }).split('\r\n')
  const [, swiss] = forSpreadsheet(text, semicolons).split('\r\n')

  assert.equal(line, '"=""049000000054""";"Tea; green";3;10,50')
  assert.equal(swiss, '"=""049000000054""";"Tea; green";3;10.50')
})

/** What a spreadsheet of some language makes another value of, by kind. */
const readAsValues = {
  numbers: ['12E5', '00E1', '1.5e-3', '12E+5', '1.5', '.5', '5.', '1,500', "1'500", '1\u00A0500'],
  moreNumbers: ['50%', '5 %', '$5', '5 €', '(5)', '5-', '−5', '１２', '1 1/2'],
  days: ['08-15', '1-2', '3/4', '1.2.', '1/2/2026', '2026-11-28', '2020年1月5日'],
  months: ['MAR1', '1 Mar', '1-Mar', 'Mar-26', 'SEPT2', 'March 1', 'May 5, 2026', '1MAR', 'Sep. 3'],
  otherMonths: ['MRZ1', '3. März', 'Okt 4', 'mrt-5', 'Mars 2', '5 août', '2 maja', '1 styczeń'],
  times: ['12:30', '12:30:45.5', '1:30 PM', '5 pm', '5 a', '2026-11-28 12:30'],
  truths: ['TRUE', 'false', 'Wahr', 'vrai'],
}

/** What a spreadsheet leaves as it is spelled, so that nothing needs to be put around it. */
const readAsTexts = {
  products: ['Velmora Coffee 500 g', 'Coffee 500', '2 x 500', '6-pack', '7 Up', '3 in 1', '500 ml'],
  codes: ['A1', 'E12', 'P5', 'AB-12-34', '12E5B', '1_2', '#5', '5*', '1–2', '½', 'M&M 5', '数量5'],
  words: ['March', 'May', 'Mars', 'Marble 5', 'Decor 12', 'Ma 5', 'Market 5', 'true coffee'],
  others: ['EUR 12.50 / 3.10', '', ' ', '...'],
}

/** A cell of text as the service prints it and as the file for Excel has it. */
function readCell(text: string, decimalPoint: string): string {
  const row = csvRow([{ text }, { number: '1' }])
  const listSeparator = decimalPoint === ',' ? ';' : ','
  const file = forSpreadsheet(`BRAND,CLICKS\r\n${row}`, { ...rules, decimalPoint, listSeparator })
  const [, line = ''] = file.split('\r\n')
  return line.slice(0, -2)
}

test('for Excel a code or name that it would read as a number, a date or a time stays as it is spelled', () => {
  for (const text of Object.values(readAsValues).flat()) {
    assert.equal(readCell(text, '.'), `"=""${text}"""`, text)
    assert.equal(readCell(text, ','), `"=""${text}"""`, text)
  }
})

test('for Excel nothing is put around names that it leaves alone', () => {
  for (const text of Object.values(readAsTexts).flat()) {
    assert.equal(readCell(text, '.').replaceAll('"', ''), text, text)
    assert.equal(readCell(text, ','), readCell(text, '.'), text)
  }
})

test('for Excel a text with blanks or quotes is judged by what stands between them', () => {
  assert.equal(readCell(' 12 ', '.'), '"="" 12 """')
  assert.equal(readCell('1"2', '.'), '"1""2"')
})

test('for Excel what would run as a formula keeps its apostrophe and gets nothing more', () => {
  for (const text of ['=1+1', '-5', '+12E5', '@MAR1', '-1-2', '＝1+1']) {
    assert.equal(readCell(text, '.'), `'${text}`)
    assert.equal(readCell(`'${text}`, '.'), `''${text}`)
  }
  assert.equal(readCell('1;=2', '.'), "1;'=2")
})

test('for Excel figures stay numbers, days stay days, and the header is unchanged', () => {
  const text = [
    'DATE,PURCHASED_AT,MARKET,CLICKS,CONVERSION_VALUE\r\n',
    '2026-11-28,2026-11-28T12:30:00.000Z,DE,12,-0.500000000\r\n',
  ].join('')

  assert.equal(forSpreadsheet(text, rules), `\uFEFF${text}`)
})
