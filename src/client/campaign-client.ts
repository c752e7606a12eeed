import { Type } from 'typebox'
import {
  displayAdGroupAssetResponseSchema,
  parseCreativeRequest,
  type CreativeRequest,
  type DisplayAdGroupAssetResponse,
} from '../contract/creative.ts'
import type { Of } from '../contract/fields.ts'
import { parseGroupRequest, type GroupBody } from '../contract/group-request.ts'
import {
  groupsSchema,
  reportJsonSchema,
  reportSeriesSchema,
  type JsonGroups,
  type JsonReport,
  type JsonSeries,
} from '../contract/report-json.ts'
import {
  parseReportRequest,
  type AttributionsQuery,
  type ProductReportRequest,
  type ReportBody,
} from '../contract/report-request.ts'
import { parseSeriesRequest, type SeriesBody } from '../contract/series-request.ts'
import {
  siteLocationsSchema,
  type siteLocationsQuerySchema,
  type SiteLocations,
} from '../contract/site-locations.ts'
import { compileParser, type Parsed } from '../contract/validate.ts'
import { createCaller, takeJson, type Call, type Caller, type CallOptions } from './caller.ts'
import { expectOptions, invalid } from './client-error.ts'
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

export type SiteLocationsQuery = Of<typeof siteLocationsQuerySchema>

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

  /** One page of a report by groups, with totals of all pages, in memory. */
  groupsJson(advertiserId: number, request: GroupBody, options?: CallOptions): Promise<JsonGroups>

  /** A report as sums by day, week or month. */
  seriesJson(advertiserId: number, request: SeriesBody, options?: CallOptions): Promise<JsonSeries>

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
  groups: createRoute('readSpaProductGroups'),
  series: createRoute('readSpaProductSeries'),
  addAsset: createRoute('addDisplayAdGroupAsset'),
  siteLocations: createRoute('listEligibleSiteLocations'),
}

const takeReport = takeJson(compileParser(reportJsonSchema))
const takeGroups = takeJson(compileParser(groupsSchema))
const takeSeries = takeJson(compileParser(reportSeriesSchema))
const takeAsset = takeJson(compileParser(displayAdGroupAssetResponseSchema))
const takeSites = takeJson(compileParser(Type.Array(siteLocationsSchema)))
const pageGiven = '/page must be absent: all pages are read; reportCsv reads one'

/** For programs of an advertiser or the platform. Throws OPTIONS_INVALID. Nothing is to be closed. */
export function createCampaignClient(options: CampaignClientOptions): CampaignClient {
  const { silenceMs, ...connection } = parseCampaignOptions(options)
  const caller = createCaller(connection, connection.key)

  const openCsv = csvOpener(caller, silenceMs)
  const openReport = (
    advertiserId: number,
    request: ProductReportRequest,
    { locale, signal }: ReportOptions
  ): Promise<OpenPage> => {
    const parameters = { path: { advertiserId }, query: { locale } }
    return openCsv({ route: routes.csv, parameters, body: request, signal }, request)
  }

  return {
    async *report(advertiserId, query, callOptions = {}) {
      expectOptions(callOptions, ['locale', 'onHead'])
      const request = checkRequest(query)
      if ('page' in query && query.page !== undefined) throw invalid('REQUEST_INVALID', [pageGiven])
      yield* readRows({
        query: request,
        isLocalized: callOptions.locale !== undefined,
        openPage: (page) => openReport(advertiserId, { ...request, page }, callOptions),
        onHead: (head) => callOptions.onHead?.(head),
      })
    },
    async reportCsv(advertiserId, body, callOptions = {}) {
      expectOptions(callOptions, ['locale'])
      return toCsvPage(await openReport(advertiserId, checkRequest(body), callOptions))
    },
    async attributionsCsv(advertiserId, query, callOptions = {}) {
      const { signal } = expectOptions(callOptions, [])
      const parameters = { path: { advertiserId }, query }
      return toCsvPage(await openCsv({ route: routes.attributions, parameters, signal }, query))
    },
    ...jsonReports(caller),
    async addAsset(adGroup, creative, callOptions = {}) {
      const { signal } = expectOptions(callOptions, [])
      const { value } = await caller.call({
        route: routes.addAsset,
        parameters: { path: { ...adGroup } },
        body: checked(parseCreativeRequest(creative)),
        signal,
        take: takeAsset,
      })
      return value
    },
    async siteLocations(advertiserId, query, callOptions = {}) {
      const { signal } = expectOptions(callOptions, [])
      const { value } = await caller.call({
        route: routes.siteLocations,
        parameters: { path: { advertiserId }, query },
        signal,
        take: takeSites,
      })
      return value
    },
  }
}

interface InMemory<Body, Value> {
  readonly route: Call<Value>['route']
  readonly parse: (body: Body) => Parsed<object>
  readonly take: Call<Value>['take']
}

/** The reports that are read whole into memory. */
function jsonReports(
  caller: Caller
): Pick<CampaignClient, 'reportJson' | 'groupsJson' | 'seriesJson'> {
  const reader =
    <Body, Value>({ route, parse, take }: InMemory<Body, Value>) =>
    async (advertiserId: number, body: Body, options: CallOptions = {}): Promise<Value> => {
      const { signal } = expectOptions(options, [])
      const parameters = { path: { advertiserId } }
      const { value } = await caller.call({
        route,
        parameters,
        body: checked(parse(body)),
        signal,
        take,
      })
      return value
    }
  return {
    reportJson: reader<ReportBody, JsonReport>({
      route: routes.json,
      parse: parseReportRequest,
      take: takeReport,
    }),
    groupsJson: reader<GroupBody, JsonGroups>({
      route: routes.groups,
      parse: parseGroupRequest,
      take: takeGroups,
    }),
    seriesJson: reader<SeriesBody, JsonSeries>({
      route: routes.series,
      parse: parseSeriesRequest,
      take: takeSeries,
    }),
  }
}

function csvOpener(caller: Caller, silenceMs: number) {
  return async (
    call: Omit<Call<OpenPage>, 'take'>,
    request: Pick<ReportBody, 'page' | 'limit'>
  ): Promise<OpenPage> => {
    const take: Call<OpenPage>['take'] = (exchange, attemptCount) =>
      Promise.resolve(openPage(exchange, { request, silenceMs, attemptCount }))
    return (await caller.call({ ...call, take })).value
  }
}

function toCsvPage({ resultId: _id, attemptCount: _count, ...page }: OpenPage): CsvPage {
  return page
}

/** The request as the service reads it, defaults filled in: what was checked is what is sent. */
function checkRequest(body: ReportBody): ProductReportRequest {
  return checked(parseReportRequest(body))
}

function checked<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw invalid('REQUEST_INVALID', parsed.messages)
  return parsed.value
}
