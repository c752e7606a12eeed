// The campaign port as callers meet it: real sockets, keys, catalog, reports and warehouse. For the
// tests that hold every answer of the contract's campaign operations against its rules.
import { silentMetrics } from '../helpers/silent-metrics.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { AuditTrail } from '../../src/access/audit-trail.ts'
import { openKeyStore, type KeyStore } from '../../src/access/key-store.ts'
import { buildCampaignApp } from '../../src/campaign/app.ts'
import { catalogNames } from '../../src/catalog/catalog-names.ts'
import { openCatalogStore, type CatalogStore } from '../../src/catalog/catalog-store.ts'
import type { KeyRequest, Scope } from '../../src/contract/admin.ts'
import { errorCodeHeader, isRefusalCode, refusalKinds } from '../../src/contract/refusal-codes.ts'
import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'
import { buildOpenApi } from '../../src/contract/openapi.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import { createAttributionsLister } from '../../src/reports/attributions.ts'
import { createOwnExplainer } from '../../src/attribution/explain/for-advertiser.ts'
import { createIntakeReader } from '../../src/reports/intake.ts'
import { createTrafficQualityReader } from '../../src/reports/traffic-quality.ts'
import { readRestatements } from '../../src/days/restatement-list.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { createSummaryReader } from '../../src/reports/summary.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { bundle, echoAdmin } from './harness.ts'

const nowMs = Date.UTC(2026, 2, 2, 10)
const clock = () => nowMs

export const fullAssetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3311'
export const otherAssetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3312'

/** Every text an asset can have. */
export const fullAsset = {
  id: fullAssetId,
  advertiserId: 1,
  fileName: 'bänner "1".html',
  url: 'https://cdn.example/b?x=1&y=%26',
  width: 728,
  height: 90,
  type: 'HTML_IMAGE_LINK',
  altText: 'Kaffee ☕',
  backgroundColor: '#ffffff',
  callToAction: 'Buy',
  adCopy: 'Fresh\ncoffee',
  link: 'https://shop.example/coffee',
} as const

const additions: CatalogBundle = {
  ...bundle,
  campaigns: [
    ...(bundle.campaigns ?? []),
    { id: 1003, advertiserId: 1, name: 'Summer' },
    { id: 3001, advertiserId: 3, name: 'Of one that is gone' },
  ],
  adGroups: [
    ...(bundle.adGroups ?? []),
    { id: 5006, campaignId: 1003, name: 'Of another campaign', type: 'DISPLAY' },
    { id: 7001, campaignId: 3001, name: 'Of one that is gone', type: 'DISPLAY' },
    { id: 2_147_483_647, campaignId: 1003, name: 'Largest', type: 'SPONSORED_BRAND' },
  ],
  creativeSizes: [
    ...(bundle.creativeSizes ?? []),
    { id: 2_147_483_647, name: 'Largest', width: 728, height: 90 },
    { id: 3, name: 'Higher', width: 728, height: 91 },
    { id: 4, name: 'Upright', width: 90, height: 728 },
  ],
  assets: [
    ...(bundle.assets ?? []),
    fullAsset,
    {
      id: otherAssetId,
      advertiserId: 1,
      fileName: 'other.mp4',
      url: 'https://cdn.example/other.mp4',
      width: 728,
      height: 90,
      type: 'HTML_VIDEO_LINK',
    },
  ],
}

const all: readonly Scope[] = ['report:read', 'asset:write', 'site:read']
const keyRequests = {
  own: { name: 'own', advertisers: [1], scopes: all },
  rival: { name: 'rival', advertisers: [2], scopes: all },
  gone: { name: 'gone', advertisers: [3], scopes: all },
  everyone: { name: 'everyone', advertisers: 'all', scopes: all },
  admin: { name: 'admin', advertisers: 'all', scopes: ['admin'] },
  reports: { name: 'reports', advertisers: [1], scopes: ['report:read'] },
  assets: { name: 'assets', advertisers: [1], scopes: ['asset:write'] },
  sites: { name: 'sites', advertisers: [1], scopes: ['site:read'] },
  metrics: { name: 'metrics', advertisers: 'all', scopes: ['metrics:read', 'link:mint'] },
  expired: {
    name: 'expired',
    advertisers: 'all',
    scopes: ['admin'],
    expiresAt: '2026-03-02T10:00:00.000Z',
  },
  revoked: { name: 'revoked', advertisers: 'all', scopes: ['admin'] },
} as const satisfies Record<string, KeyRequest>

export type KeyName = keyof typeof keyRequests

export interface Sending {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Null: none. Default `own`. */
  readonly key?: KeyName | null
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: unknown
}

export interface ContractPort {
  readonly send: (sending: Sending) => Promise<Reply>
  readonly keys: Readonly<Record<KeyName, string>>
  readonly catalog: CatalogStore
  readonly close: () => Promise<void>
}

/** One per test file: a warehouse in process belongs to one folder, and a start costs a second. */
export async function openContractPort(): Promise<ContractPort> {
  const warehouse = await openMigratedWarehouse()
  const stores = { warehouse, clock, log: silentLog, refreshMs: 3_600_000 }
  const catalog = await openCatalogStore(stores)
  assert.deepEqual((await catalog.apply(additions)).ok, true)
  const keyStore = await openKeyStore({ ...stores, adminKey: 'k'.repeat(43) })
  const keys = await makeKeys(keyStore)
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-contract-'))
  const keptPages = new KeptPages({ folder: join(folder, 'kept'), clock })
  const app = buildCampaignApp({
    keys: keyStore,
    catalog,
    audit: new AuditTrail({ warehouse, clock }),
    readIntake: createIntakeReader(warehouse),
    readTrafficQuality: createTrafficQualityReader({
      warehouse,
      catalog: () => catalogNames(catalog.current()),
      keptPages,
    }),
    runReport: createReportRunner({
      warehouse,
      catalog: () => catalogNames(catalog.current()),
      keptPages,
    }),
    listAttributions: createAttributionsLister({
      warehouse,
      catalog: () => catalogNames(catalog.current()),
      keptPages,
    }),
    runGroups: createGroupsRunner({
      warehouse,
      catalog: () => catalogNames(catalog.current()),
      keptPages,
    }),
    explainOwnPurchase: createOwnExplainer({
      warehouse,
      settleMs: 0,
      catalog: () => catalog.current(),
    }),
    readSummary: createSummaryReader({ warehouse, catalog: () => catalogNames(catalog.current()) }),
    readSeries: createSeriesReader({ warehouse, catalog: () => catalogNames(catalog.current()) }),
    listRestatements: (sinceMs) => readRestatements(warehouse, sinceMs),
    adminHandlers: echoAdmin,
    openApi: () => buildOpenApi({ trackingUrl: 'http://t', campaignUrl: 'http://c', version: '1' }),
    isReady: () => true,
    metrics: silentMetrics,
    clock,
    log: silentLog,
    requestsPerMinuteMax: 1_000_000,
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  return {
    keys,
    catalog,
    send: (sending) => send({ origin, agent, keys }, sending),
    close: async () => {
      agent.destroy()
      await app.close()
      await keptPages.close()
      await keyStore.close()
      await catalog.close()
      await warehouse.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function makeKeys(store: KeyStore): Promise<Record<KeyName, string>> {
  const made: Partial<Record<string, string>> = {}
  for (const [name, keyRequest] of Object.entries(keyRequests)) {
    const { id, key } = await store.create(keyRequest)
    if (name === 'revoked') await store.revoke(id)
    made[name] = key
  }
  return made as Record<KeyName, string>
}

interface Way {
  readonly origin: string
  readonly agent: Agent
  readonly keys: ContractPort['keys']
}

async function send({ origin, agent, keys }: Way, sending: Sending): Promise<Reply> {
  const { method, path, key = 'own', headers = {}, body } = sending
  const lines = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === 'string' ? value : [...value],
  ])
  // The path goes out as it is: a URL would tidy it up.
  const sent = request(origin, {
    method,
    path,
    agent,
    headers: {
      ...(key !== null && { authorization: `Bearer ${keys[key]}` }),
      ...Object.fromEntries(lines),
    },
  })
  const bytes =
    typeof body === 'string' || body instanceof Buffer || body === undefined
      ? body
      : JSON.stringify(body)
  if (bytes !== undefined) sent.setHeader('content-length', Buffer.byteLength(bytes))
  sent.end(bytes)
  const [response] = await once(sent, 'response')
  const answer = await text(response)
  const isJson = String(response.headers['content-type']).startsWith('application/json')
  const json: unknown = isJson ? JSON.parse(answer) : null
  return { status: response.statusCode, headers: response.headers, text: answer, json }
}

/** A refusal has this status and these messages, and not a word or a field more; its code is a header. */
export function assertRefused(reply: Reply, status: number, messages: readonly string[]): void {
  assert.deepEqual({ status: reply.status, body: reply.json }, { status, body: { messages } })
  const code = String(reply.headers[errorCodeHeader])
  assert.ok(isRefusalCode(code) && refusalKinds[code].status === status, code)
  assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.equal(reply.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined)
}
