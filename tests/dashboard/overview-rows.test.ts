import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAdvertisers } from '../../dashboard/src/advertisers.ts'
import {
  brandRow,
  csvOf,
  orderRows,
  sumRows,
  type Asked,
  type BrandRow,
} from '../../dashboard/src/overview-rows.ts'
import type { JsonSummary } from '../../src/contract/report-json.ts'
import { addDays, listDays } from '../../src/domain/day.ts'

type Summary = JsonSummary['advertisers'][number]
type Total = Summary['totals'][number]

const total = (changes: Partial<Total> = {}): Total => ({
  IMPRESSIONS: '1000',
  CLICKS: '100',
  LOADS: '1200',
  CONVERSIONS: '21',
  ORDERS: '20',
  UNITS_SOLD: '30',
  CLICK_THROUGH_RATE: '0.100000',
  CONVERSION_RATE: '0.210000',
  CONVERSION_VALUE: '600.00',
  AD_SPEND_REVENUE: '100.00',
  COST_PER_CLICK: '1.000000',
  RETURN_ON_AD_SPEND: '6.0000',
  CURRENCY: 'EUR',
  UNCONVERTED: '0',
  ...changes,
})

const lastWhole = '2026-11-28'
const market = { newest: '2026-11-29', lastWhole, lastWholeOf: new Map([['EUR', lastWhole]]) }
const asked: Asked = {
  shown: { code: 'EUR', isConverted: false },
  period: { startDate: '2026-11-22', endDate: lastWhole },
  base: { startDate: '2026-11-15', endDate: '2026-11-21' },
  market,
}

function days(from: string, to: string): Summary['days'] {
  return listDays(from, to).map((DATE) => Object.assign({ DATE }, total()))
}

const brand = (changes: Partial<Summary> = {}): Summary => ({
  id: 7,
  name: 'Acme',
  totals: [total()],
  comparison: [total()],
  days: days('2026-11-01', lastWhole),
  firstDay: '2026-01-01',
  ...changes,
})

test('an advertiser is compared where both periods are whole, and else the reason is told', () => {
  const grown = brand({ comparison: [total({ CONVERSION_VALUE: '400.00' })] })
  assert.deepEqual([brandRow(grown, asked).change, brandRow(grown, asked).reason], [0.5, null])

  const running = { ...asked, period: { ...asked.period, endDate: '2026-11-29' } }
  assert.deepEqual(
    [brandRow(grown, running).change, brandRow(grown, running).reason],
    [null, 'running']
  )
  const young = brandRow({ ...grown, firstDay: '2026-11-16' }, asked)
  assert.deepEqual([young.change, young.reason], [null, 'young'])
  assert.equal(brandRow({ ...grown, firstDay: '2026-11-15' }, asked).change, 0.5)
  assert.deepEqual(brandRow(grown, { ...asked, base: null }).reason, null)
  const later = { ...asked, base: { startDate: '2026-11-29', endDate: '2026-11-29' } }
  assert.deepEqual(
    [brandRow(grown, later).change, brandRow(grown, later).reason],
    [null, 'unfinished']
  )
})

test('two whole days without events are told, counted to the last day that is over, and one is not', () => {
  const until = (day: string) => brandRow(brand({ days: days('2026-11-01', day) }), asked).signs

  assert.deepEqual(until('2026-11-27'), [])
  assert.deepEqual(until('2026-11-26'), [{ kind: 'silent', days: 2, isAtLeast: false }])
  // The running day has no events yet, which says nothing.
  const withRunning = { ...asked, period: { ...asked.period, endDate: '2026-11-29' } }
  assert.deepEqual(brandRow(brand(), withRunning).signs, [])
  assert.deepEqual(brandRow(brand({ days: [] }), asked).signs, [
    { kind: 'silent', days: 28, isAtLeast: true },
  ])
  assert.deepEqual(brandRow(brand({ days: [], firstDay: null }), asked).signs, [{ kind: 'never' }])
  // Of a period that ended long ago, it is not known.
  const past = { ...asked, period: { startDate: '2026-11-01', endDate: addDays(lastWhole, -1) } }
  assert.deepEqual(brandRow(brand({ days: [] }), past).signs, [])
})

const fallen = (now: string, ordersBefore: string) =>
  brandRow(
    brand({
      totals: [total({ RETURN_ON_AD_SPEND: now })],
      comparison: [total({ RETURN_ON_AD_SPEND: '10.0000', ORDERS: ordersBefore })],
    }),
    asked
  ).signs

test('a return on ad spend that fell by 40 % is told, if there were ten orders before', () => {
  assert.deepEqual(fallen('6.0000', '10'), [{ kind: 'roas', change: -0.4 }])
  assert.deepEqual(fallen('6.0001', '10'), [])
  assert.deepEqual(fallen('6.0000', '9'), [])
})

test('sums of advertisers are exact, and their ratio is that of the sums', () => {
  const row = (id: number, changes: Partial<Total>) =>
    brandRow(brand({ id, totals: [total(changes)] }), asked)
  const rows = [
    row(1, { AD_SPEND_REVENUE: '0.100000001', CONVERSION_VALUE: '9007199254740993.10' }),
    row(2, { AD_SPEND_REVENUE: '0.20', CONVERSION_VALUE: '0.20', ORDERS: null }),
    brandRow(brand({ id: 3, totals: [] }), asked),
  ]

  assert.deepEqual(sumRows(rows, 'EUR'), {
    AD_SPEND_REVENUE: '0.300000001',
    CONVERSION_VALUE: '9007199254740993.30',
    RETURN_ON_AD_SPEND: '30023997415723319.6143',
    ORDERS: null,
    CLICKS: '200',
    IMPRESSIONS: '2000',
    CURRENCY: 'EUR',
  })
  assert.equal(sumRows(rows.slice(2), 'EUR'), null)
})

test('rows without a figure come last in both directions, and the file has the rows as they are shown', () => {
  const row = (id: number, name: string, spend: string | null): BrandRow => {
    const totals = spend === null ? [] : [total({ AD_SPEND_REVENUE: spend })]
    return brandRow(brand({ id, name, totals }), asked)
  }
  const rows = [row(1, 'B', '9.00'), row(2, 'A', null), row(3, '=C', '10.00'), row(4, 'D', '9.00')]
  const ids = (isDescending: boolean) =>
    orderRows(rows, { by: 'AD_SPEND_REVENUE', isDescending }).map(({ id }) => id)

  assert.deepEqual(ids(true), [3, 1, 4, 2])
  assert.deepEqual(ids(false), [1, 4, 3, 2])
  const lines = csvOf(orderRows(rows, { by: 'NAME', isDescending: true }), asked.shown).split(
    '\r\n'
  )
  assert.equal(
    lines[0],
    'ADVERTISER_ID,ADVERTISER_NAME,AD_SPEND_REVENUE,CONVERSION_VALUE,RETURN_ON_AD_SPEND,ORDERS,CLICKS,' +
      'IMPRESSIONS,CURRENCY,CHANGE_OF_VALUE,UNCONVERTED'
  )
  assert.ok(lines.includes(`3,'=C,10.00,600.00,6.0000,20,100,1000,EUR,0.000000,0`))
  assert.ok(lines.includes('2,A,,,,,,,EUR,,0'))
})

test('what is converted is never called like an amount in its own currency in the file', () => {
  const [plain = [], converted = []] = [false, true].map((isConverted) =>
    csvOf([], { code: 'EUR', isConverted }).trimEnd().split(',').slice(2)
  )
  const shared = plain.filter((name) => converted.includes(name))

  assert.deepEqual(shared, ['ORDERS', 'CLICKS', 'IMPRESSIONS', 'UNCONVERTED'])
  assert.deepEqual(
    converted.filter((name) => !shared.includes(name)),
    [
      'CONVERTED_AD_SPEND_REVENUE',
      'CONVERTED_CONVERSION_VALUE',
      'CONVERTED_RETURN_ON_AD_SPEND',
      'CONVERTED_CURRENCY',
      'CONVERTED_CHANGE_OF_VALUE',
      'CONVERTED_FROM',
      'WITHOUT_RATE',
    ]
  )
})

test('amounts that are missing for want of a rate are told of the currency shown, on the row and in the file', () => {
  const totals = [
    total({ UNCONVERTED: '2' }),
    total({ CURRENCY: 'KWD', UNCONVERTED: '110' }),
    total({ CURRENCY: 'GBP' }),
  ]
  for (const [code, isConverted, count] of [
    ['EUR', false, 2],
    ['KWD', false, 110],
    ['GBP', false, 0],
    ['EUR', true, 112],
  ] as const) {
    const shown = { code, isConverted }
    const row = brandRow(brand({ totals }), { ...asked, shown })
    assert.equal(row.unconverted, count)
    const signs = row.signs.filter(({ kind }) => kind === 'unconverted')
    assert.deepEqual(signs, count === 0 ? [] : [{ kind: 'unconverted', count }])
    assert.match(csvOf([row], shown), new RegExp(`,${count}(?:,|\r\n)`, 'u'))
  }
})

test('a search for advertisers finds parts of names and whole ids, those opened last first', () => {
  const all = [
    { id: 1, name: 'Velmora Coffee' },
    { id: 2, name: 'Tarnwick' },
    { id: 12, name: null },
    { id: 40, name: 'Crème'.normalize('NFD') },
  ]
  const found = (text: string, recent: readonly number[] = []) =>
    findAdvertisers(all, text, recent).map(({ id }) => id)

  assert.deepEqual(found('COFF'), [1])
  assert.deepEqual(found('2'), [12, 2])
  assert.deepEqual(found('', [1]), [1, 12, 40, 2])
  assert.deepEqual(found('CRÈ'.normalize('NFC')), [40])
  assert.deepEqual(found('nobody'), [])
})
