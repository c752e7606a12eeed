import { Type } from 'typebox'
import {
  displayAdGroupAssetResponseSchema,
  parseCreativeRequest,
  type CreativeRequest,
  type DisplayAdGroupAssetResponse,
} from '../contract/creative.ts'
import { attributionsQuerySchema, type AttributionsQuery } from '../contract/explanation.ts'
import type { Immutable } from '../contract/fields.ts'
import { reportJsonSchema, type JsonReport } from '../contract/report-json.ts'
import {
  parseReportRequest,
  reportRequestSchema,
  type ReportBody,
  type ReportRequest,
} from '../contract/report-request.ts'
import {
  siteLocationsQuerySchema,
  siteLocationsSchema,
  type SiteLocations,
} from '../contract/site-locations.ts'
import { compileParser } from '../contract/validate.ts'
import { createCaller, takeJson, type Caller, type CallOptions } from './caller.ts'
import { invalid } from './client-error.ts'
import { expectKnown, expectOptions } from './known-fields.ts'
import { parseCampaignOptions, type CampaignClientOptions } from './options.ts'
import { openPage, type CsvPage, type OpenPage } from './report-page.ts'
import { readRows, type ReportHead, type ReportQuery, type ReportRow } from './report-rows.ts'
import { createRoute } from './route.ts'

export interface ReportOptions extends CallOptions {
  /** A language tag such as de-DE: labels of the header in that language. Values are the same in all. */
  readonly locale?: string | undefined
}

export interface ReportRowsOptions extends ReportOptions {
  /** Called once, before the first row and also if there is none. */
  readonly onHead?: ((head: ReportHead) => void) | undefined
}

export interface AdGroupPath {
  readonly advertiserId: number
  readonly campaignId: number
  readonly adGroupId: number
}

export type SiteLocationsQuery = Immutable<Type.Static<typeof siteLocationsQuerySchema>>

export interface CampaignClient {
  /**
   * All rows of a report, page after page, in flat memory: what the reader does not take stays with the
   * service, which breaks a connection that takes nothing for a minute. The rows end only if the report
   * is whole: an answer that breaks off, or a page from another result than the first, fails, and what
   * was read until then must not be used. Leaving the loop, or the signal, ends the connection.
   */
  report(
    advertiserId: number,
    query: ReportQuery,
    options?: ReportRowsOptions
  ): AsyncGenerator<ReportRow, void, undefined>

  /** One page of a report as the file that the service makes. */
  reportCsv(advertiserId: number, request: ReportBody, options?: ReportOptions): Promise<CsvPage>

  /** One page of the credited lines, which are what the report sums up, as the file that the service makes. */
  attributionsCsv(
    advertiserId: number,
    query: AttributionsQuery,
    options?: CallOptions
  ): Promise<CsvPage>

  /** One page of a report with totals and exact amounts, in memory: at most 10,000 rows. */
  reportJson(advertiserId: number, request: ReportBody, options?: CallOptions): Promise<JsonReport>

  /** The asset becomes the advertised one of the ad group and the size. Again is harmless. */
  addAsset(
    adGroup: AdGroupPath,
    creative: CreativeRequest,
    options?: CallOptions
  ): Promise<DisplayAdGroupAssetResponse>

  /** Where the advertiser may show ads at the publisher in the market. */
  siteLocations(
    advertiserId: number,
    query: SiteLocationsQuery,
    options?: CallOptions
  ): Promise<readonly SiteLocations[]>
}

const routes = {
  csv: createRoute('downloadSpaProductReport'),
  attributions: createRoute('downloadAttributions'),
  json: createRoute('readSpaProductReport'),
  addAsset: createRoute('addDisplayAdGroupAsset'),
  siteLocations: createRoute('listEligibleSiteLocations'),
}

const takeReport = takeJson(compileParser(reportJsonSchema))
const takeAsset = takeJson(compileParser(displayAdGroupAssetResponseSchema))
const takeSites = takeJson(compileParser(Type.Array(siteLocationsSchema)))
const json = 'application/json'
const pageGiven = '/page must be absent: all pages are read; reportCsv reads one'

/** For programs of an advertiser or the platform. Throws OPTIONS_INVALID. Nothing is to be closed. */
export function createCampaignClient(options: CampaignClientOptions): CampaignClient {
  const { silenceMs, ...connection } = parseCampaignOptions(options)
  const caller = createCaller(connection, connection.key)
  return { ...reportCalls(caller, silenceMs), ...otherCalls(caller) }
}

type ReportCalls = Pick<CampaignClient, 'report' | 'reportCsv' | 'attributionsCsv' | 'reportJson'>

function reportCalls(caller: Caller, silenceMs: number): ReportCalls {
  const openCsv = async (
    advertiserId: number,
    request: ReportRequest,
    { locale, signal }: ReportOptions
  ): Promise<OpenPage> => {
    const { value } = await caller.call({
      route: routes.csv,
      parameters: { path: { advertiserId }, query: { locale } },
      body: request,
      accept: 'text/csv, application/json',
      expects: 200,
      signal,
      take: (exchange, attemptCount) =>
        Promise.resolve(openPage(exchange, { request, silenceMs, attemptCount })),
    })
    return value
  }

  return {
    async *report(advertiserId, query, options = {}) {
      expectOptions(options, ['locale', 'onHead'])
      const request = checkRequest(query)
      if ('page' in query && query.page !== undefined) throw invalid('REQUEST_INVALID', [pageGiven])
      yield* readRows({
        query: request,
        isLocalized: options.locale !== undefined,
        openPage: (page) => openCsv(advertiserId, { ...request, page }, options),
        onHead: (head) => options.onHead?.(head),
      })
    },
    async reportCsv(advertiserId, body, options = {}) {
      expectOptions(options, ['locale'])
      const {
        resultId: _id,
        attemptCount: _count,
        ...page
      } = await openCsv(advertiserId, checkRequest(body), options)
      return page
    },
    async attributionsCsv(advertiserId, query, options = {}) {
      const { signal } = expectOptions(options, [])
      const { value } = await caller.call({
        route: routes.attributions,
        parameters: { path: { advertiserId }, query: checkAttributions(query) },
        body: null,
        accept: 'text/csv, application/json',
        expects: 200,
        signal,
        take: (exchange, attemptCount) =>
          Promise.resolve(openPage(exchange, { request: query, silenceMs, attemptCount })),
      })
      const { resultId: _id, attemptCount: _count, ...opened } = value
      return opened
    },
    async reportJson(advertiserId, body, options = {}) {
      const { signal } = expectOptions(options, [])
      const { value } = await caller.call({
        route: routes.json,
        parameters: { path: { advertiserId } },
        body: checkRequest(body),
        accept: json,
        expects: 200,
        signal,
        take: takeReport,
      })
      return value
    },
  }
}

function otherCalls(caller: Caller): Omit<CampaignClient, keyof ReportCalls> {
  return {
    async addAsset(adGroup, creative, options = {}) {
      const { signal } = expectOptions(options, [])
      const { advertiserId, campaignId, adGroupId } = expectKnown(adGroup, {
        at: '',
        known: ['advertiserId', 'campaignId', 'adGroupId'],
      })
      const { value } = await caller.call({
        route: routes.addAsset,
        parameters: { path: { advertiserId, campaignId, adGroupId } },
        body: checkCreative(creative),
        accept: json,
        expects: 201,
        signal,
        take: takeAsset,
      })
      return value
    },
    async siteLocations(advertiserId, query, options = {}) {
      const { signal } = expectOptions(options, [])
      const { publisherId, marketId, adGroupType } = expectKnown(query, {
        at: '',
        known: fieldsOf(siteLocationsQuerySchema),
      })
      const { value } = await caller.call({
        route: routes.siteLocations,
        parameters: { path: { advertiserId }, query: { publisherId, marketId, adGroupType } },
        body: null,
        accept: json,
        expects: 200,
        signal,
        take: takeSites,
      })
      return value
    },
  }
}

function fieldsOf({ properties }: { readonly properties: object }): readonly string[] {
  return Object.keys(properties)
}

/** As the service reads it, defaults filled in: what was checked is what is sent. */
function checkRequest(body: ReportBody): ReportRequest {
  expectKnown(body, { at: '', known: fieldsOf(reportRequestSchema) })
  for (const [index, filter] of (body.filters ?? []).entries()) {
    expectKnown(filter, { at: `/filters/${index}`, known: ['field', 'values'] })
  }
  const parsed = parseReportRequest(body)
  if (!parsed.ok) throw invalid('REQUEST_INVALID', parsed.messages)
  return parsed.request
}

function checkAttributions(query: AttributionsQuery) {
  const { startDate, endDate, attributionProfile, page, limit } = expectKnown(query, {
    at: '',
    known: fieldsOf(attributionsQuerySchema),
  })
  return { startDate, endDate, attributionProfile, page, limit }
}

function checkCreative(body: CreativeRequest): CreativeRequest {
  expectKnown(body, { at: '', known: ['creativeSizeId', 'assetId'] })
  const parsed = parseCreativeRequest(body)
  if (!parsed.ok) throw invalid('REQUEST_INVALID', parsed.messages)
  const { creativeSizeId, assetId } = parsed.value
  return { creativeSizeId, assetId }
}
