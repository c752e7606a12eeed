// What tests of reports by groups have in common: a world with campaigns and brands, and the sums of rows by group.
import assert from 'node:assert/strict'
import { ProductTable } from '../../src/catalog/product-table.ts'
import type { Grouping } from '../../src/contract/group-request.ts'
import type { ReportFilter } from '../../src/contract/report-filters.ts'
import { parseDecimal } from '../../src/domain/money.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { History } from './history.ts'

export type Row = Readonly<Record<string, string | null>>

const sumNames = [
  'LOADS',
  'IMPRESSIONS',
  'CLICKS',
  'CONVERSIONS',
  'UNITS_SOLD',
  'CONVERSION_VALUE',
  'AD_SPEND_REVENUE',
] as const

/** What tells groups apart, as text: what the catalog calls them is not part of it. */
const ownColumn: Readonly<Record<Grouping, readonly string[]>> = {
  CAMPAIGN: ['CAMPAIGN_ID'],
  AD_GROUP: ['CAMPAIGN_ID', 'AD_GROUP_ID'],
  PRODUCT: ['GTIN'],
  BRAND: ['BRAND'],
  PUBLISHER: ['PUBLISHER_ID'],
  MARKET: ['MARKET'],
  DATE: ['DATE'],
}

export function keyOf(row: Row, groupBy: readonly Grouping[]): string {
  const names = [...new Set(groupBy.flatMap((grouping) => ownColumn[grouping])), 'CURRENCY']
  return names.map((name) => `${name}=${row[name]?.toLowerCase()}`).join(' ')
}

export function addUp(rows: readonly Row[], groupBy: readonly Grouping[]) {
  const sums = new Map<string, bigint[]>()
  for (const row of rows) {
    const key = keyOf(row, groupBy)
    const own = sums.get(key) ?? sumNames.map(() => 0n)
    const add = (sum: bigint, index: number) =>
      sum + (parseDecimal(row[sumNames[index] ?? ''] ?? '', 9) ?? assert.fail(key))
    sums.set(key, own.map(add))
  }
  return Object.fromEntries([...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Two campaigns, so that some purchases are credited to both. */
export function withCampaigns(history: History): History {
  for (const { ad } of history.events) {
    Object.assign(ad, { campaignId: ad.adGroupId === 5001 ? 1002 : 1001 })
  }
  return history
}

export async function writeProducts(warehouse: Warehouse): Promise<void> {
  const products = new ProductTable(warehouse, Date.now)
  const brands = ['Acme', 'ACME', 'Velmora', 'Söhne']
  await products.write(
    Array.from({ length: 30 }, (_, index) => ({
      marketId: (index % 3) + 1,
      gtin: `sku-${index + 1}`,
      title: `Coffee ${index}`,
      brand: brands[index % brands.length] ?? '',
    })),
    await products.nextVersion([1, 2, 3])
  )
}

/** The filters that name a group, or null if none can: a product without a brand. */
export function filtersOf(row: Row, groupBy: readonly Grouping[]): readonly ReportFilter[] | null {
  const fields = groupBy.flatMap((grouping) => ownColumn[grouping])
  const filters = [...new Set(fields)].map((name) => ({
    // The columns are called like the fields.
    field: name as ReportFilter['field'],
    values: [row[name] ?? ''],
  }))
  return filters.some(({ values }) => values[0] === '') ? null : filters
}
