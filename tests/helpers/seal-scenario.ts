// Small scenes around one shopper, one product and one publisher, and their report as one line a row.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReportMarket } from '../../src/reports/catalog-names.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { readReportDays } from '../../src/reports/sealed-days.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { HistoryAd, HistoryDelivery, HistoryEvent } from './history.ts'
import { placement } from './placement.ts'

export function anAd(overrides: Partial<HistoryAd> = {}): HistoryAd {
  return {
    servedAdId: 'a'.repeat(32),
    servedAtMs: Date.UTC(2026, 2, 2, 12),
    ...placement,
    gtin: '4006381333931',
    groupId: '',
    userId: 'shopper',
    userLoggedInId: '',
    currency: 'EUR',
    costPerClickMicros: 250_000n,
    costPerMilleMicros: 0n,
    ...overrides,
  }
}

export function aClick(ad: HistoryAd, receivedAtMs: number): HistoryEvent {
  return { kind: 'click', receivedAtMs, userAgent: '', prefetch: false, ad }
}

interface PurchaseOptions {
  readonly atMs: number
  readonly transactionId?: string
  readonly deliveryId?: string
  readonly currency?: string
  readonly price?: number
  readonly quantity?: number
}

export function aPurchase({ atMs, ...options }: PurchaseOptions): HistoryDelivery {
  const { transactionId = 't-1', deliveryId = 'd'.repeat(32), currency = 'EUR' } = options
  const { price = 10, quantity = 2 } = options
  return {
    deliveryId,
    receivedAtMs: atMs,
    publisherId: 10,
    siteId: 101,
    transactionId,
    userId: 'shopper',
    userLoggedInId: '',
    currency,
    lines: [{ gtin: '4006381333931', groupId: '', brand: '', price, quantity }],
    untrusted: false,
    voided: false,
  }
}

/** The report of advertiser 1 by day: loads/impressions/clicks and sums; `sealed` if all days asked for are. */
export async function readFigures(
  warehouse: Warehouse,
  markets: readonly ReportMarket[],
  range: { readonly startDate?: string; readonly endDate?: string } = {}
): Promise<readonly string[]> {
  const { startDate = '2026-03-01', endDate = '2026-03-12' } = range
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  const keptPages = new KeptPages({ folder, clock: Date.now })
  const catalog = {
    markets: () => markets,
    publishers: () => [],
    campaigns: () => [],
    adGroups: () => [],
  }
  const run = createReportRunner({ warehouse, catalog: () => catalog, keptPages })
  const days = await readReportDays(warehouse, markets, { startDate, endDate })
  const result = await run({
    advertiserId: 1,
    keyId: 'test',
    signal: new AbortController().signal,
    request: {
      filters: [],
      startDate,
      endDate,
      attributionProfile: 'CLK_14_DAYS',
      page: 0,
      limit: 1_000,
      sortType: 'ASC',
      dateBreakdown: true,
      orderBy: 'DATE',
    },
  })
  const state = days.hasOpenDays ? 'open' : 'sealed'
  const unconverted = result.unconvertedCount === 0 ? '' : ` unconverted ${result.unconvertedCount}`
  const lines: string[] = []
  for await (const block of result.rows) {
    for (const row of block) {
      const { conversionValue, adSpendRevenue } = row.exact
      lines.push(
        `${row.date} ${row.loads}/${row.impressions}/${row.clicks} conversions ${row.conversions} units ${row.unitsSold}` +
          ` value ${conversionValue} spend ${adSpendRevenue} ${state}${unconverted}`
      )
    }
  }
  keptPages.close()
  return lines
}
