// The operations that advertisers and publishers call with a key: the three campaign operations of the interface, and
// what was added to them.
import { Type, type TObject } from 'typebox'
import {
  creativeRequestSchema,
  displayAdGroupAssetResponseSchema,
  parseCreativeRequest,
} from './creative.ts'
import { parseLanguage } from '../domain/language.ts'
import { ownExplanationSchema } from './explanation.ts'
import { dateRange, instantText, int32, optional, text, wordOf } from './fields.ts'
import { groupRequestSchema, parseGroupRequest } from './group-request.ts'
import { intakeLimits, intakeSchema } from './intake.ts'
import { advertiserAccountSchema, meSchema } from './me.ts'
import {
  anyScope,
  jsonBody,
  withIds,
  withKey,
  type Access,
  type Description,
  type Details,
  type Given,
  type NoParameters,
  type RequestBody,
} from './operation.ts'
import { rangeFaults } from './parameters.ts'
import { attributionColumns, trafficQualityColumns } from './report-columns.ts'
import {
  groupsSchema,
  reportJsonSchema,
  reportSeriesSchema,
  reportSummarySchema,
  sealedDaysSchema,
} from './report-json.ts'
import {
  attributionsQuerySchema,
  parseReportRequest,
  reportLimits,
  reportPaging,
  reportRange,
  reportRequestSchema,
} from './report-request.ts'
import { reportValuesSchema, valuesQuerySchema } from './report-values.ts'
import { answer, countHeader, header, rateHeaders, type OperationResponse } from './responses.ts'
import { parseSeriesRequest, seriesRequestSchema } from './series-request.ts'
import { siteLocationsQuerySchema, siteLocationsSchema } from './site-locations.ts'
import { parseSummaryRequest, summaryRequestSchema } from './summary-request.ts'

const localeRule = 'a language tag such as "de" or "de-DE"'
const advertiserPath = Type.Object({ advertiserId: int32() })

type AdvertiserDetails<Query extends TObject, Body extends RequestBody | null> = Omit<
  Details<typeof advertiserPath, Query, Body>,
  'pathParameters'
> & { readonly access?: Access }

/** An operation below the path of one advertiser; it reads reports unless `access` says otherwise. */
function ofAdvertiser<Query extends TObject = NoParameters, Body extends RequestBody | null = null>(
  details: AdvertiserDetails<Query, Body>
): Description<typeof advertiserPath, Query, Body> {
  return withKey({
    notFound: 'there is no such advertiser.',
    access: { scope: 'report:read', isAdvertiserBound: true },
    ...details,
    path: `/v2/advertisers/{advertiserId}${details.path}`,
    pathParameters: advertiserPath,
    tag: 'Campaign',
  })
}

const pageHeaders = {
  'content-disposition': header('A telling file name.'),
  'x-total-rows': { ...countHeader('Rows over all pages.'), required: true },
  'x-result-id': header(
    'If there is more than one page: pages with the same id are cut from the same result.'
  ),
  'x-complete-through': header('The last day from which on back the figures are sealed.', {
    type: 'string',
    format: 'date',
  }),
  'x-renewing-days': countHeader(
    'How many days input has reached since they were sealed, if there are any: they are sealed again soon.'
  ),
} as const
const reportHeaders = {
  ...pageHeaders,
  'x-unconverted': countHeader(
    'Amounts over all pages (credited lines, charged events) that are missing for want of an exchange ' +
      'rate, if there are any.'
  ),
}

const { 'content-disposition': _fileName, ...jsonReportHeaders } = reportHeaders

function csv(description: string, headers: OperationResponse['headers']): OperationResponse {
  return {
    status: '200',
    description,
    content: { mediaType: 'text/csv', schema: Type.String() },
    ...(headers !== undefined && { headers }),
  }
}

const wholeFile =
  'The report: RFC 4180, UTF-8, a header line, then one line per row. It is sent with its length, so a ' +
  'transfer that ends well is whole.'

const localeQuery = Type.Object({
  locale: optional(
    Type.String({
      title: localeRule,
      description:
        'A language tag such as de-DE: labels of the header in that language. Values are the same in ' +
        'every locale.',
    })
  ),
})

function localeFaults({ locale }: Given<typeof localeQuery>): readonly string[] {
  return locale === undefined || parseLanguage(locale) !== null
    ? []
    : [`locale must be ${localeRule}`]
}

const report = ofAdvertiser({
  method: 'post',
  path: '/reports/spa/product.csv',
  summary: 'Download the SPA product performance report as CSV',
  description:
    'Performance of sponsored products by product, market, publisher, campaign and ad group, and by ' +
    'date with dateBreakdown.',
  queryParameters: localeQuery,
  queryFaults: localeFaults,
  body: jsonBody(reportRequestSchema, parseReportRequest),
  takesPlace: true,
  success: csv(wholeFile, reportHeaders),
})

export const campaignOperations = withIds({
  downloadSpaProductReport: {
    ...report,
    addition: false,
    interfaceStatuses: ['200', '401', '403', '404', '422'],
  },
  readSpaProductReport: {
    ...report,
    path: report.path.replace('.csv', '.json'),
    summary: 'Read the SPA product performance report as JSON',
    description: 'The rows of the CSV report with totals and paging, for programs.',
    responses: [
      {
        ...answer('200', 'One page of the report.', reportJsonSchema),
        headers: { ...jsonReportHeaders, ...rateHeaders },
      },
      ...report.responses.slice(1),
    ],
  },
  readSpaProductSeries: ofAdvertiser({
    method: 'post',
    path: '/reports/spa/series.json',
    summary: 'Read the SPA product performance report as sums by day, week or month',
    description:
      'The same question as the report, answered with sums of its rows by interval and over all pages, for ' +
      'charts and headings. Paging, order and dateBreakdown have no effect.',
    body: jsonBody(seriesRequestSchema, parseSeriesRequest),
    takesPlace: true,
    success: answer('200', 'The sums.', reportSeriesSchema),
  }),
  readSpaProductSummary: withKey({
    method: 'post',
    path: '/v2/reports/spa/summary.json',
    tag: 'Campaign',
    summary: 'Read the totals of many advertisers at once',
    description:
      'For each advertiser, or each of a list, the totals that `series.json` has without filters, by currency; ' +
      'also of a period to compare with, and the last days one by one. An advertiser that the key is not for is ' +
      'refused if it is listed, and left out otherwise.',
    access: { scope: 'report:read', isAdvertiserBound: false },
    body: jsonBody(summaryRequestSchema, parseSummaryRequest),
    takesPlace: true,
    otherRefusals: ['PARTY_FORBIDDEN'],
    success: answer('200', 'The advertisers of the page.', reportSummarySchema),
  }),
  readSpaProductGroups: ofAdvertiser({
    method: 'post',
    path: '/reports/spa/groups.json',
    summary: 'Read the SPA product performance report by campaign, brand or other groups, as JSON',
    description:
      'The rows of the report added up by what `groupBy` names, with totals of all pages by currency and the ' +
      'distinct orders of each group. Amounts of different currencies are added up under `converted` alone, which ' +
      'only `convertTo` gives.',
    body: jsonBody(groupRequestSchema, parseGroupRequest),
    takesPlace: true,
    success: {
      ...answer('200', 'One page of the groups.', groupsSchema),
      headers: jsonReportHeaders,
    },
  }),
  downloadSpaProductGroups: ofAdvertiser({
    method: 'post',
    path: '/reports/spa/groups.csv',
    summary:
      'Download the SPA product performance report by campaign, brand or other groups, as CSV',
    description:
      'The groups of groups.json without totals. The columns are those that `groupBy` gives, in the order of ' +
      'the report, then the figures, CURRENCY and ORDERS. With `convertTo` a line is a group of `converted`; what ' +
      'is converted has names that begin with CONVERTED_, and CONVERTED_FROM and WITHOUT_RATE follow.',
    queryParameters: localeQuery,
    queryFaults: localeFaults,
    body: jsonBody(groupRequestSchema, parseGroupRequest),
    takesPlace: true,
    success: csv(wholeFile, reportHeaders),
  }),
  listSpaReportValues: ofAdvertiser({
    path: '/reports/spa/values',
    summary: 'List the values that a filter of the report can have',
    description:
      'Brands, products, campaigns, ad groups, publishers or markets with figures in the range, found by a part ' +
      'of their name.',
    queryParameters: valuesQuerySchema,
    queryFaults: (range) => rangeFaults(range, reportLimits.daysMax),
    takesPlace: true,
    success: answer('200', 'The values.', reportValuesSchema),
  }),
  readMe: withKey({
    path: '/v2/me',
    tag: 'Campaign',
    summary: 'Read what the key may do',
    description:
      'Scopes, the advertisers and publishers that the key is for, and whether purchases and returns ' +
      'delivered with it would count. For any valid key with a scope.',
    access: { ...anyScope, isAdvertiserBound: false },
    success: answer('200', 'About the key.', meSchema),
  }),
  readAdvertiserAccount: ofAdvertiser({
    path: '/account',
    summary: 'Read what the catalog holds of an advertiser',
    description:
      'Its campaigns, ad groups and assets, and the publishers, markets and creative sizes it can choose ' +
      'from. For keys of the advertiser with one of the scopes report:read, asset:write and site:read.',
    access: {
      scope: 'report:read',
      otherScopes: ['asset:write', 'site:read'],
      isAdvertiserBound: true,
    },
    success: answer('200', 'The account.', advertiserAccountSchema),
  }),
  listSealedDays: ofAdvertiser({
    path: '/reports/spa/days',
    summary: 'List the days that were sealed, or sealed again',
    description:
      'A sealed day keeps its figures until late input changes them; then it is sealed again under another ' +
      'revision. A client that keeps reports pulls only these days again.',
    queryParameters: Type.Object({
      since: optional(
        instantText(
          'Only days sealed after this instant, and in the minute before; all when absent. Next time, ask ' +
            'with the last `sealedAt`, and skip revisions that you have.'
        )
      ),
    }),
    success: answer('200', 'The days.', sealedDaysSchema),
  }),
  downloadTrafficQuality: ofAdvertiser({
    path: '/reports/traffic-quality.csv',
    summary: 'Download which events counted and which did not, as CSV',
    description:
      'Events by day, market, publisher and kind (LOAD, IMPRESSION, CLICK): how many counted, and how many ' +
      `did not, by reason. The columns are ${trafficQualityColumns.join(', ')}.`,
    queryParameters: Type.Object({ ...reportRange, ...reportPaging }),
    queryFaults: (range) => rangeFaults(range, reportLimits.daysMax),
    takesPlace: true,
    success: csv('The events: RFC 4180, UTF-8, a header line, then one line per row.', pageHeaders),
  }),
  downloadAttributions: ofAdvertiser({
    path: '/attributions',
    summary: 'Download the credited purchases as CSV',
    description:
      'One row for each line of a purchase that is credited to the advertiser: UNITS_SOLD and ' +
      'CONVERSION_VALUE of the report are the sums of these rows. The oldest purchase first. No row tells ' +
      'who bought.',
    queryParameters: attributionsQuerySchema,
    queryFaults: (range) => rangeFaults(range, reportLimits.daysMax),
    takesPlace: true,
    otherRefusals: ['DAYS_FINAL'],
    success: csv(`Columns: ${attributionColumns.join(', ')}. RFC 4180, UTF-8.`, reportHeaders),
  }),
  explainAttribution: withKey({
    path: '/v2/advertisers/{advertiserId}/attributions/{publisherId}/{transactionId}',
    tag: 'Campaign',
    summary: 'Explain why a purchase is credited',
    description:
      'The lines credited to the advertiser, with its own clicks and impressions that won or lost. Those of ' +
      'others are counted and never named.',
    access: { scope: 'report:read', isAdvertiserBound: true },
    pathParameters: Type.Object({
      ...advertiserPath.properties,
      publisherId: int32(),
      transactionId: text('Percent-encoded.'),
    }),
    takesPlace: true,
    success: answer('200', 'The explanation.', ownExplanationSchema),
    notFound: 'no such purchase is credited to this advertiser.',
  }),
  addDisplayAdGroupAsset: {
    ...withKey({
      method: 'post',
      path: '/display/v2/advertisers/{advertiserId}/campaigns/{campaignId}/display/ad-groups/{adGroupId}/assets',
      tag: 'Campaign',
      summary: 'Add an asset to a DISPLAY or SPONSORED_BRAND ad group',
      description:
        'The asset becomes the advertised one of the ad group and the creative size. Adding it again ' +
        'changes nothing and is answered the same.',
      access: { scope: 'asset:write', isAdvertiserBound: true },
      pathParameters: Type.Object({
        ...advertiserPath.properties,
        campaignId: int32(),
        adGroupId: int32(),
      }),
      // OpenAPI tells tools to ignore a parameter called accept; it is here because the interface lists it.
      headerParameters: Type.Object({
        accept: optional(wordOf(['application/json'], { default: 'application/json' })),
      }),
      body: jsonBody(creativeRequestSchema, parseCreativeRequest),
      success: answer('201', 'Created.', displayAdGroupAssetResponseSchema),
      notFound: 'there is no such ad group in the campaign of the advertiser.',
    }),
    interfaceStatuses: ['201', '401', '403'],
    addition: false,
  },
  listEligibleSiteLocations: {
    ...ofAdvertiser({
      path: '/eligible/site-locations',
      summary: 'List eligible sites and locations',
      description: 'The sites and locations the advertiser has access to.',
      access: { scope: 'site:read', isAdvertiserBound: true },
      queryParameters: siteLocationsQuerySchema,
      success: answer('200', 'The sites with their locations.', Type.Array(siteLocationsSchema)),
      notFound:
        'there is no such advertiser or market, or no such publisher to which the advertiser has access.',
    }),
    addition: false,
    interfaceStatuses: ['200', '401', '403', '404', '422'],
  },
  readIntake: withKey({
    path: '/v2/publishers/{publisherId}/intake',
    tag: 'Campaign',
    summary: 'Read what a publisher sent',
    description:
      'Conversions and ad events of a publisher by day and by what became of them, for checking an ' +
      'integration. Days are those of UTC.',
    access: { scope: 'intake:read', isAdvertiserBound: false, isPublisherBound: true },
    pathParameters: Type.Object({ publisherId: int32() }),
    queryParameters: Type.Object(dateRange({ zone: 'UTC', daysMax: intakeLimits.daysMax })),
    queryFaults: (range) => rangeFaults(range, intakeLimits.daysMax),
    takesPlace: true,
    success: answer('200', 'What came, and what became of it.', intakeSchema),
    notFound: 'there is no such publisher.',
  }),
})
