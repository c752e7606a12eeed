// Small scenes around one shopper, one product and one publisher, and their report as one line a row.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import type { ReportMarket } from '../../src/catalog/catalog-names.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { readReportDays } from '../../src/days/sealed-days.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { HistoryAd, HistoryDelivery, HistoryEvent } from './history.ts'
import { createHistoryLoader } from './history-warehouse.ts'
import type { HistoryLoader } from './history-warehouse.ts'
import { placement } from './placement.ts'
import { sealDue } from './seal-due.ts'
import { openTestWarehouse } from './test-warehouse.ts'

const berlin: ReportMarket = { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }
/** Input from before this instant is shipped, and its days are over. */
const throughMs = Date.UTC(2026, 2, 14)

export interface World {
  readonly warehouse: Warehouse
  readonly loader: HistoryLoader
  readonly markets: ReportMarket[]
  /** Attributes what is due. */
  readonly attribute: () => Promise<void>
  /** Attributes what is due, seals what is over and renews what was touched. */
  readonly settle: () => Promise<number>
  readonly figures: (range?: FiguresAsked) => Promise<readonly string[]>
}

export async function aWorld(t: TestContext): Promise<World> {
  return aWorldIn(await openTestWarehouse(t))
}

export function aWorldIn(warehouse: Warehouse): World {
  const markets = [berlin]
  const deps = {
    warehouse,
    markets: () => markets,
    settledThroughMs: () => throughMs,
    renewPauseMs: 0,
  }
  const attribute = async () => {
    const attributor = new Attributor({ warehouse, settleMs: 0 })
    while ((await attributor.attributeBatch()).hasMore);
  }
  return {
    warehouse,
    loader: createHistoryLoader(warehouse, 0),
    markets,
    attribute,
    settle: async () => {
      await attribute()
      return await sealDue(deps)
    },
    figures: (range = {}) => readFigures(warehouse, markets, range),
  }
}

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

export interface FiguresAsked {
  readonly startDate?: string
  readonly endDate?: string
  /** 1 when absent. */
  readonly advertiserId?: number
  /** False: one line for all days, under the date `null`. */
  readonly isByDay?: boolean
}

/** The report of advertiser 1 by day: loads/impressions/clicks and sums; `sealed` if all days asked for are. */
export async function readFigures(
  warehouse: Warehouse,
  markets: readonly ReportMarket[],
  range: FiguresAsked = {}
): Promise<readonly string[]> {
  const { startDate = '2026-03-01', endDate = '2026-03-12', isByDay = true } = range
  const { advertiserId = 1 } = range
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
    advertiserId,
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
      dateBreakdown: isByDay,
      orderBy: isByDay ? 'DATE' : 'GTIN',
    },
  })
  const state = days.hasOpenDays ? 'open' : 'sealed'
  const unconverted = result.unconvertedCount === 0 ? '' : ` unconverted ${result.unconvertedCount}`
  const lines: string[] = []
  for (const row of result.rows) {
    const [value, spend] = [row.conversionValue, row.adSpendRevenue].map(withoutZeros)
    lines.push(
      `${row.date} ${row.loads}/${row.impressions}/${row.clicks} conversions ${row.conversions} units ${row.unitsSold}` +
        ` value ${value} spend ${spend} ${state}${unconverted}`
    )
  }
  await keptPages.close()
  return lines
}

/** `20.00` as 20, `0.250000000` as 0.25. */
function withoutZeros(amount: string): string {
  return amount.replace(/\.0+$|(\.\d*?)0+$/u, '$1')
}
