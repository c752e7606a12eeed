import assert from 'node:assert/strict'
import { test } from 'node:test'
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

const isFigure = (column: string) => column === 'CLICKS' || column === 'CONVERSION_VALUE'
const header = 'GTIN,PRODUCT_TITLE,CLICKS,CONVERSION_VALUE\r\n'
const csv = `${header}049000000054,"Tea, green",3,10.50\r\n`

test('for Excel identifiers are texts, which keep their leading zeros, and the file says that it is UTF-8', () => {
  assert.equal(
    forSpreadsheet(csv, { decimalPoint: '.', isFigure }),
    `\uFEFF${header}"=""049000000054""","Tea, green",3,10.50\r\n`
  )
})

test('where decimals have a comma, columns are separated by semicolons, and texts with one are quoted', () => {
  const text = csv.replace('"Tea, green"', 'Tea; green')
  const [, line] = forSpreadsheet(text, { decimalPoint: ',', isFigure }).split('\r\n')

  assert.equal(line, '"=""049000000054""";"Tea; green";3;10,50')
})
