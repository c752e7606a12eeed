import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { UnconvertedPage } from '../../../src/contract/unconverted.ts'
import { Attributor } from '../../../src/attribution/attribute.ts'
import { createHistoryLoader } from '../../helpers/history-warehouse.ts'
import { sealDue } from '../../helpers/seal-due.ts'
import { aClick, anAd, aPurchase } from '../../helpers/seal-scenario.ts'
import { bundle, startAdmin, type AdminHarness } from './harness.ts'

const atMs = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const range = 'startDate=2026-03-01&endDate=2026-03-31'

let harness: AdminHarness
before(async () => {
  harness = await startAdmin()
  await harness.call('PUT', '/admin/v1/catalog', JSON.stringify(bundle))
  const ad = (letter: string, changes: Parameters<typeof anAd>[0] = {}) =>
    anAd({ servedAdId: letter.repeat(32), servedAtMs: atMs, ...changes })
  const impression = ad('3', { currency: 'USD', costPerMilleMicros: 1n })
  await createHistoryLoader(harness.warehouse, 0).ship([
    aClick(ad('1'), atMs),
    aClick(ad('2', { currency: 'USD' }), atMs),
    aClick(ad('2', { currency: 'USD' }), atMs + hourMs),
    { ...aClick(impression, atMs), kind: 'impression' },
    aClick(ad('4', { currency: 'USD', costPerClickMicros: 0n }), atMs),
    aClick(ad('5', { currency: 'GBP', advertiserId: 2 }), atMs + 24 * hourMs),
    aClick(ad('6', { marketId: 999, gtin: '4006381333948' }), atMs),
    aPurchase({ atMs: atMs + hourMs, currency: 'USD', price: 9.99, quantity: 3 }),
  ])
  const attributor = new Attributor({ warehouse: harness.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
})
after(() => harness.close())

async function list(query = range): Promise<UnconvertedPage> {
  const { status, json } = await harness.call('GET', `/admin/v1/unconverted?${query}`)
  assert.equal(status, 200, JSON.stringify(json))
  // The comparison below checks what it reads.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return json as UnconvertedPage
}

const print = ({ rows }: UnconvertedPage) =>
  rows.map(
    (row) =>
      `${row.date} ${row.market ?? row.marketId} of ${row.advertiserId} in ${row.currency}:` +
      ` ${row.impressions}/${row.clicks} ${row.spend} lines ${row.lines} ${row.value}`
  )

const all = [
  '2026-03-02 DE of 1 in USD: 1/1 0.250000001 lines 1 29.97',
  '2026-03-02 999 of 1 in EUR: 0/1 0.25 lines 0 0.00',
  '2026-03-03 DE of 2 in GBP: 0/1 0.25 lines 0 0.00',
]

async function seal(): Promise<void> {
  const markets = bundle.markets.slice(0, 1)
  const deps = {
    warehouse: harness.warehouse,
    markets: () => markets,
    settledThroughMs: () => Date.UTC(2026, 2, 10),
    renewPauseMs: 0,
  }
  await sealDue(deps)
}

test('amounts without a rate are summed exactly in their own currency, on open days and on sealed ones', async () => {
  const open = print(await list())
  await seal()

  assert.deepEqual(open.toSorted(), all.toSorted())
  assert.deepEqual(print(await list()).toSorted(), all.toSorted())
})

test('pages concatenate to the whole, and days before the range are left out', async () => {
  const rows: string[] = []
  let cursor = ''
  for (let page = 0; page < 3; page++) {
    const answer = await list(`${range}&limit=1${cursor}`)
    rows.push(...print(answer))
    cursor = `&after=${answer.next ?? ''}`
    assert.equal(answer.next === undefined, page === 2)
  }

  assert.deepEqual(rows, print(await list()))
  assert.deepEqual((await list('startDate=2026-03-04&endDate=2026-03-31')).rows, [])
})

for (const [query, message] of [
  ['', 'startDate is required'],
  ['startDate=2026-01-01&endDate=2026-04-03', 'endDate must be at most 92 days from startDate'],
  ['startDate=2019-12-31&endDate=2020-01-02', 'startDate and endDate must lie between 2020-01-01'],
  [`${range}&limit=1001`, 'limit must be an integer from 1 to 1000'],
  [`${range}&after=x`, 'after must be the next of the page before, unchanged'],
  [`${range}&after=1970-01-01_1_1_EUR`, 'after must be the next of the page before, unchanged'],
  [`${range}&after=2026-03-02_9999999999_1_EUR`, 'after must be the next of the page before'],
] as const) {
  test(`the list of amounts without a rate refuses "${query}" by its rule`, async () => {
    const { status, json } = await harness.call('GET', `/admin/v1/unconverted?${query}`)

    assert.equal(status, 422)
    assert.ok(JSON.stringify(json).includes(message), JSON.stringify(json))
  })
}

test('an amount leaves the list once a rate leads to it', async () => {
  await harness.call('PUT', '/admin/v1/rates', 'Date, USD, \n2 March 2026, 1.2, \n')

  assert.deepEqual(print(await list()).toSorted(), all.slice(1).toSorted())
})
