// A campaign port over fakes behind its own ports: a small catalog, keys by their text, reports from
// a list of rows. The admin API and the stores have tests of their own.
import { silentMetrics } from '../helpers/silent-metrics.ts'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import type { AuditRecord } from '../../src/access/audit-trail.ts'
import type { HandlerTable } from '../../src/http/handler.ts'
import type { AccessKey } from '../../src/access/key.ts'
import { emptySnapshot, extendSnapshot, type Assignment } from '../../src/catalog/snapshot.ts'
import { buildCampaignApp } from '../../src/campaign/app.ts'
import type { CampaignDeps } from '../../src/campaign/deps.ts'
import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'
import { buildOpenApi } from '../../src/contract/openapi.ts'
import { operations } from '../../src/contract/operations.ts'
import type { IntakeQuestion } from '../../src/reports/intake.ts'
import type { ReportCall, ReportRow } from '../../src/reports/report.ts'
import { anAsset } from '../helpers/bundle.ts'

export const assetId = anAsset().id
export const foreignAssetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3302'
export const wideAssetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3303'
export const restingAssetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3304'
/** Of an advertiser that is no longer active. */
export const leftAssetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3305'

const asset = anAsset({ altText: 'Coffee' })

export const bundle: CatalogBundle = {
  markets: [
    { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
    { id: 2, code: 'SE', currency: 'SEK', timeZone: 'Europe/Stockholm' },
    { id: 3, code: 'XX', currency: 'EUR', timeZone: 'Europe/Berlin', active: false },
  ],
  publishers: [
    {
      id: 10,
      name: 'Example Shop',
      sites: [
        {
          id: 101,
          name: 'Desktop',
          type: 'DESKTOP',
          marketIds: [1],
          locations: [
            {
              type: 'PLATFORM_PRODUCT',
              location: 'SEARCH_PAGE',
              pagePosition: 'MAIN_GRID',
              adGroupTypes: ['SPA'],
            },
            { type: 'DISPLAY', location: 'HOME_PAGE', adGroupTypes: ['DISPLAY'] },
          ],
        },
        {
          id: 102,
          name: 'App',
          type: 'MOBILE_APP',
          marketIds: [1, 2],
          locations: [{ type: 'DISPLAY', location: 'HOME_PAGE', adGroupTypes: ['DISPLAY'] }],
        },
        { id: 103, name: 'Empty', type: 'EMAIL', marketIds: [1] },
        {
          id: 104,
          name: 'Closed',
          type: 'DESKTOP',
          marketIds: [1],
          active: false,
          locations: [{ type: 'DISPLAY', location: 'HOME_PAGE', adGroupTypes: ['DISPLAY'] }],
        },
      ],
    },
    { id: 20, name: 'Other Shop' },
  ],
  advertisers: [
    {
      id: 1,
      name: 'Acme',
      access: [
        { publisherId: 10, marketIds: [1, 3] },
        { publisherId: 10, marketIds: [2], siteIds: [101] },
      ],
    },
    { id: 2, name: 'Rival' },
    { id: 3, name: 'Gone', active: false, access: [{ publisherId: 10, marketIds: [1] }] },
  ],
  campaigns: [
    { id: 1001, advertiserId: 1, name: 'Spring' },
    { id: 1002, advertiserId: 1, name: 'Autumn', active: false },
    { id: 2001, advertiserId: 2, name: 'Other' },
  ],
  adGroups: [
    { id: 5001, campaignId: 1001, name: 'Banners', type: 'DISPLAY' },
    { id: 5002, campaignId: 1001, name: 'Products', type: 'SPA' },
    { id: 5003, campaignId: 1001, name: 'Brand', type: 'SPONSORED_BRAND' },
    { id: 5004, campaignId: 1001, name: 'Resting', type: 'DISPLAY', active: false },
    { id: 5005, campaignId: 1002, name: 'Past', type: 'DISPLAY' },
    { id: 6001, campaignId: 2001, name: 'Foreign', type: 'DISPLAY' },
  ],
  creativeSizes: [
    { id: 1, name: 'Leaderboard', width: 728, height: 90 },
    { id: 2, name: 'Retired', width: 728, height: 90, active: false },
  ],
  assets: [
    { ...asset, id: assetId },
    { ...asset, id: foreignAssetId, advertiserId: 2 },
    { ...asset, id: wideAssetId, width: 970 },
    { ...asset, id: restingAssetId, active: false },
    { ...asset, id: leftAssetId, advertiserId: 3 },
  ],
}

export function aKey(changes: Partial<AccessKey> = {}): AccessKey {
  return {
    id: 'key_1',
    name: 'a key',
    advertisers: [1],
    publishers: [],
    scopes: ['report:read', 'asset:write', 'site:read'],
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    compromisedSinceMs: null,
    invitation: null,
    isSignOn: false,
    isConfigured: false,
    ...changes,
  }
}

/** By what stands behind `Bearer`. */
const keysByText: Readonly<Record<string, AccessKey>> = {
  K1: aKey(),
  K2: aKey({ id: 'key_2', advertisers: [2] }),
  all: aKey({ id: 'key_all', advertisers: 'all', scopes: ['admin'] }),
  metrics: aKey({ id: 'key_m', advertisers: 'all', scopes: ['metrics:read'] }),
  admin: aKey({ id: 'configured', advertisers: 'all', scopes: ['admin'], isConfigured: true }),
}

export function bearer(text: string): { readonly authorization: string } {
  return { authorization: `Bearer ${text}` }
}

export function aRow(changes: Partial<ReportRow> = {}): ReportRow {
  return {
    gtin: '04006381333931',
    title: 'Coffee',
    brand: 'Acme',
    market: 'DE',
    publisherId: 10,
    publisherName: 'Example Shop',
    campaignId: 1001,
    campaignName: 'Spring',
    adGroupId: 5001,
    adGroupName: 'Banners',
    date: null,
    impressions: '10',
    clicks: '2',
    loads: '12',
    conversions: '1',
    unitsSold: '3',
    clickThroughRate: '0.200000',
    conversionRate: '0.500000',
    conversionValue: '30.10',
    adSpendRevenue: '0.50',
    costPerClick: '0.250000',
    returnOnAdSpend: '60.2000',
    currency: 'EUR',
    ...changes,
  }
}

/** The admin operations, each answering its own name. */
export const echoAdmin: HandlerTable = Object.fromEntries(
  operations
    .filter(({ tag }) => tag === 'Admin')
    .map(({ operationId }) => [
      operationId,
      () => Promise.resolve({ status: 200, body: { json: { operationId } } }),
    ])
)

export class LogCapture extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }

  lines(): Record<string, unknown>[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Record<string, unknown> => JSON.parse(line))
  }
}

export interface Harness {
  readonly app: ReturnType<typeof buildCampaignApp>
  readonly log: LogCapture
  readonly calls: ReportCall[]
  readonly attached: Assignment[]
  readonly audits: AuditRecord[]
  readonly intakes: IntakeQuestion[]
}

export function startHarness(changes: Partial<CampaignDeps> = {}): Harness {
  const log = new LogCapture()
  const calls: ReportCall[] = []
  const attached: Assignment[] = []
  const audits: AuditRecord[] = []
  const intakes: IntakeQuestion[] = []
  const snapshot = extendSnapshot(emptySnapshot, bundle)
  const app = buildCampaignApp({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: (token) => keysByText[token] ?? null,
    },
    listRestatements: () => Promise.resolve({ days: [], hasMore: false }),
    listAttributions: () => {
      const noTotals = { totalRows: 0, completeThrough: null, unconvertedCount: 0 }
      return Promise.resolve({ ...noTotals, rows: [] })
    },
    explainOwnPurchase: () => Promise.resolve(null),
    catalog: {
      current: () => snapshot,
      attach: (assignment) => {
        attached.push(assignment)
        return Promise.resolve(null)
      },
    },
    runReport: (call) => {
      calls.push(call)
      const rows = [aRow()]
      return Promise.resolve({ totalRows: 1, completeThrough: null, unconvertedCount: 0, rows })
    },
    readSeries: () => {
      const series = {
        days: [],
        totals: [],
        completeThrough: null,
        firstDay: null,
        renewingDays: [],
        unconvertedCount: 0,
      }
      return Promise.resolve(series)
    },
    readSummary: () => {
      const noDays = { completeThrough: null, renewingDays: [], unconvertedCount: 0 }
      return Promise.resolve({ advertisers: new Map(), ...noDays })
    },
    runGroups: () =>
      Promise.resolve({ totalRows: 0, completeThrough: null, unconvertedCount: 0, rows: [] }),
    readIntake: (question) => {
      intakes.push(question)
      const { publisherId, startDate, endDate } = question
      const unknown = { conversionSites: [], adSites: [], adMarkets: [] }
      return Promise.resolve({
        publisherId,
        startDate,
        endDate,
        days: [],
        unknown,
        notBelieved: [],
        lookAlikes: 0,
      })
    },
    readTrafficQuality: () =>
      Promise.resolve({ totalRows: 0, completeThrough: null, unconvertedCount: 0, rows: [] }),
    audit: {
      record: (record) => {
        audits.push(record)
        return Promise.resolve()
      },
    },
    adminHandlers: echoAdmin,
    openApi: () => buildOpenApi({ trackingUrl: 'http://t', campaignUrl: 'http://c', version: '1' }),
    isReady: () => true,
    metrics: { ...silentMetrics, read: () => Promise.resolve('up 1\n') },
    clock: () => 1_772_000_000_000,
    reportWaitMsMax: 5,
    log: pino({ level: 'trace' }, log),
    ...changes,
  })
  return { app, log, calls, attached, audits, intakes }
}
