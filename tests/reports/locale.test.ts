import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderByColumns } from '../../src/contract/report-request.ts'
import { listColumns, reportColumns } from '../../src/contract/report-columns.ts'
import { columnNames, labelsByLanguage } from '../../src/reports/labels.ts'
import { labelsOf } from '../../src/reports/locale.ts'

const languages = Object.keys(labelsByLanguage)

/** Reports by groups have one more. */
const labelled = [...reportColumns, 'ORDERS']

test('the columns stand in the order of the contract, then the currency', () => {
  assert.equal(
    reportColumns.join(' '),
    'GTIN PRODUCT_TITLE BRAND MARKET PUBLISHER_ID PUBLISHER_NAME CAMPAIGN_ID CAMPAIGN_NAME ' +
      'AD_GROUP_ID AD_GROUP_NAME DATE IMPRESSIONS CLICKS LOADS CONVERSIONS UNITS_SOLD ' +
      'CLICK_THROUGH_RATE CONVERSION_RATE CONVERSION_VALUE AD_SPEND_REVENUE COST_PER_CLICK ' +
      'RETURN_ON_AD_SPEND CURRENCY'
  )
  assert.deepEqual(orderByColumns, reportColumns.slice(0, -1))
})

test('a date stands in the report only when it is broken down by date', () => {
  const names: readonly string[] = reportColumns

  assert.deepEqual(listColumns({ dateBreakdown: true }), names)
  assert.deepEqual(
    listColumns({ dateBreakdown: false }),
    names.filter((name) => name !== 'DATE')
  )
})

test('without a locale the header carries the names of the columns', () => {
  assert.deepEqual(labelsOf(undefined), columnNames)
  assert.deepEqual(Object.keys(columnNames), labelled)
})

test('the header speaks the language of the locale', () => {
  const words = {
    en: 'Clicks',
    de: 'Klicks',
    fr: 'Clics',
    es: 'Clics',
    it: 'Clic',
    nl: 'Klikken',
    pl: 'Klikni\u0119cia',
  }
  assert.deepEqual(languages, Object.keys(words))
  for (const [language, word] of Object.entries(words))
    assert.equal(labelsOf(language).CLICKS, word)
})

test('hyphen, underscore, case, region and script make no difference', () => {
  for (const locale of [
    'de',
    'de-DE',
    'de_DE',
    'DE',
    'de-Latn-AT',
    'de_CH',
    'deu',
    'de-u-nu-thai',
  ]) {
    assert.equal(labelsOf(locale), labelsByLanguage.de, locale)
  }
  assert.equal(labelsOf('en-US-u-nu-thai'), labelsByLanguage.en)
})

test('a well-formed tag of another language gets English labels', () => {
  for (const locale of ['zh_CN', 'xx-XX', 'sv-SE', 'tr', 'und']) {
    assert.equal(labelsOf(locale), labelsByLanguage.en, locale)
  }
})

test('every language has a label for every column, all different and safe in a spreadsheet', () => {
  for (const labels of Object.values(labelsByLanguage)) {
    const texts = Object.values(labels)
    assert.deepEqual(Object.keys(labels), labelled)
    assert.equal(new Set(texts).size, labelled.length)
    for (const text of texts) assert.match(text, /^[\p{L}][\p{L} '()-]*$/u)
  }
})
