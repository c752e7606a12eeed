// What a report knows of the products: names from the catalog, and filters on them.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { ProductTable } from '../../src/catalog/product-table.ts'
import type { ReportRequest } from '../../src/contract/report-request.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import type { HistoryEvent } from '../helpers/history.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'
import { aReportRequest } from '../helpers/report-request.ts'

const atMs = Date.UTC(2026, 2, 2, 12)

function anImpression(serial: number, marketId: number, gtin: string): HistoryEvent {
  return {
    kind: 'impression',
    receivedAtMs: atMs + 1_000,
    userAgent: '',
    prefetch: false,
    ad: {
      servedAdId: serial.toString(16).padStart(32, '0'),
      servedAtMs: atMs,
      publisherId: 10,
      siteId: 101,
      marketId,
      advertiserId: 1,
      campaignId: 1001,
      adGroupId: 5001,
      gtin,
      groupId: '',
      userId: `user-${serial}`,
      userLoggedInId: '',
      currency: 'EUR',
      costPerClickMicros: 0n,
      costPerMilleMicros: 0n,
    },
  }
}

const nobody = () => []

async function aReader(t: TestContext) {
  const warehouse = await openTestWarehouse(t)
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const markets = ['DE', 'FR'].map((code, index) => ({
    id: index + 1,
    code,
    currency: 'EUR',
    timeZone: 'Europe/Berlin',
  }))
  const runReport = createReportRunner({
    warehouse,
    catalog: () => ({
      markets: () => markets,
      publishers: nobody,
      campaigns: nobody,
      adGroups: nobody,
    }),
    keptPages: new KeptPages({ folder, clock: () => atMs }),
  })
  const products = new ProductTable(warehouse, () => atMs)
  const read = async (filters: ReportRequest['filters'] = []): Promise<readonly string[]> => {
    const request = aReportRequest({ filters })
    const signal = new AbortController().signal
    const result = await runReport({ advertiserId: 1, request, keyId: 'key', signal })
    const rows = result.rows.map((row) => `${row.market} ${row.gtin} ${row.title} / ${row.brand}`)
    assert.equal(result.totalRows, rows.length)
    return rows
  }
  return { warehouse, products, read }
}

const title = (...values: string[]) => ({ field: 'PRODUCT_TITLE', values }) as const
const brand = (...values: string[]) => ({ field: 'BRAND', values }) as const

test('names come from the product of the same market, also when it is no longer active, and filters find them', async (t) => {
  const { warehouse, products, read } = await aReader(t)
  await createHistoryLoader(warehouse, 2_000).ship([
    anImpression(1, 1, '4006381333931'),
    anImpression(2, 1, 'sku-2'),
    anImpression(3, 2, 'sku-2'),
    anImpression(4, 1, 'sku-3'),
    anImpression(5, 9, 'sku-2'),
  ])
  await products.write(
    [
      { marketId: 1, gtin: '04006381333931', title: 'Grüner TEE', brand: 'Acme' },
      { marketId: 1, gtin: 'sku-2', title: 'Old coffee', brand: 'Other' },
      { marketId: 1, gtin: 'sku-2', title: 'Coffee', brand: 'ACME', active: false },
      { marketId: 2, gtin: 'sku-2', title: 'Café', brand: 'Acme' },
      { marketId: 1, gtin: 'sku-4', title: 'Coffee never advertised', brand: 'Acme' },
    ],
    await products.nextVersion([1, 2])
  )

  const tea = 'DE 04006381333931 Grüner TEE / Acme'
  const coffee = 'DE sku-2 Coffee / ACME'
  const cafe = 'FR sku-2 Café / Acme'
  const nameless = 'DE sku-3  / '
  const elsewhere = '9 sku-2  / '
  assert.deepEqual(await read(), [tea, coffee, cafe, elsewhere, nameless])
  assert.deepEqual(await read([title('coffee')]), [coffee])
  assert.deepEqual(await read([title('OLD')]), [])
  assert.deepEqual(await read([title('grüner t', 'CAFÉ')]), [tea, cafe])
  assert.deepEqual(await read([brand('acme')]), [tea, coffee, cafe])
  assert.deepEqual(await read([brand('acme'), { field: 'MARKET', values: ['fr'] }]), [cafe])
  assert.deepEqual(await read([title('coffee'), { field: 'GTIN', values: ['sku-2'] }]), [coffee])
  assert.deepEqual(await read([{ field: 'GTIN', values: ['4006381333931'] }]), [tea])
  assert.deepEqual(await read([{ field: 'MARKET', values: ['9'] }]), [elsewhere])
  assert.deepEqual(await read([title()]), [])
})

test('a part of a Greek title finds it in any case, whichever small sigma it ends with', async (t) => {
  const { warehouse, products, read } = await aReader(t)
  await createHistoryLoader(warehouse, 2_000).ship([anImpression(1, 1, 'sku-1')])
  await products.write(
    [{ marketId: 1, gtin: 'sku-1', title: 'ΚΑΦΕΣΑΚΙ ΟΔΟΣ', brand: 'Καφές' }],
    await products.nextVersion([1])
  )

  for (const part of ['ΚΑΦΕΣ', 'καφες', 'καφεσ', 'καφεσακι', 'οδος', 'ΟΔΟΣ', 'οδοσ']) {
    assert.equal((await read([title(part)])).length, 1, part)
    const listed = { marketId: 1, after: null, limit: 10, gtin: null, title: part }
    assert.equal((await products.list(listed)).products.length, 1, part)
  }
  for (const name of ['ΚΑΦΈΣ', 'καφές', 'καφέσ']) {
    assert.equal((await read([brand(name)])).length, 1, name)
  }
  assert.deepEqual(await read([title('καφεζ')]), [])
})

test('a name is found with its accents in either form of Unicode, and a report gives it back as it was loaded', async (t) => {
  const { warehouse, products, read } = await aReader(t)
  await createHistoryLoader(warehouse, 2_000).ship([
    anImpression(1, 1, 'sku-1'),
    anImpression(2, 1, 'sku-2'),
  ])
  const [apart, whole] = ['Café crème'.normalize('NFD'), 'Café crème'.normalize('NFC')]
  assert.notEqual(apart, whole)
  await products.write(
    [
      { marketId: 1, gtin: 'sku-1', title: apart, brand: apart },
      { marketId: 1, gtin: 'sku-2', title: whole, brand: whole },
    ],
    await products.nextVersion([1])
  )

  for (const text of [apart, whole, apart.toUpperCase(), whole.toUpperCase()]) {
    assert.equal((await read([title(text)])).length, 2, text)
    assert.equal((await read([brand(text)])).length, 2, text)
    const listed = { marketId: 1, after: null, limit: 10, gtin: null, title: text }
    const { products: found } = await products.list(listed)
    assert.deepEqual(
      found.map((one) => one.title),
      [apart, whole]
    )
  }
})
