import { Type } from 'typebox'
import { creativeRequestSchema, displayAdGroupAssetResponseSchema } from './creative.ts'
import { int32, wordOf } from './fields.ts'
import { attributionColumns } from './attribution-columns.ts'
import { attributionsQuerySchema, ownExplanationSchema } from './explanation.ts'
import { intakeQuerySchema, intakeSchema } from './intake.ts'
import {
  answer,
  forbidden,
  jsonBody,
  otherwise,
  refusal,
  unauthorized,
  unprocessable,
  type Operation,
  type OperationResponse,
} from './operation.ts'
import { advertiserAccountSchema, meSchema } from './me.ts'
import { reportJsonSchema } from './report-json.ts'
import { reportRequestSchema } from './report-request.ts'
import { reportSeriesSchema } from './report-series.ts'
import { sealedDaysQuerySchema, sealedDaysSchema } from './sealed-days.ts'
import { siteLocationsQuerySchema, siteLocationsSchema } from './site-locations.ts'
import { trafficQualityColumns, trafficQualityQuerySchema } from './traffic-quality.ts'

const advertiserParameter = Type.Object({ advertiserId: int32() })

const reportHeaders = {
  'content-disposition': 'A telling file name.',
  'x-total-rows': 'Rows of the whole report, over all pages.',
  'x-result-id':
    'Of a report of more than one page: pages with the same id are cut from the same result.',
  'x-complete-through': 'The last day from which on back the figures are sealed.',
  'x-renewing-days':
    'How many days input has reached since they were sealed, if there are any: they are sealed again soon.',
  'x-unconverted':
    'Purchases whose value is missing for want of an exchange rate, if there are any.',
}

const csv: OperationResponse = {
  status: '200',
  description:
    'The report: RFC 4180, UTF-8, a header line, then one line per row. It is sent with its length, so a ' +
    'transfer that ends well is whole.',
  content: { mediaType: 'text/csv', schema: Type.String() },
  headers: reportHeaders,
}

const report: Operation = {
  operationId: 'downloadSpaProductReport',
  method: 'post',
  path: '/v2/advertisers/{advertiserId}/reports/spa/product.csv',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Download the SPA product performance report as CSV',
  description:
    'Performance of sponsored products by product, market, publisher, campaign and ad group, and by ' +
    'date with dateBreakdown.',
  access: { scope: 'report:read', isAdvertiserBound: true },
  pathParameters: advertiserParameter,
  queryParameters: Type.Object({
    locale: Type.Optional(
      Type.String({
        description:
          'A language tag such as de-DE: labels of the header in that language. Values are the same in ' +
          'every locale.',
      })
    ),
  }),
  body: jsonBody(reportRequestSchema),
  responses: [
    csv,
    unauthorized,
    forbidden,
    refusal('404', 'Not Found: there is no such advertiser.'),
    unprocessable,
    otherwise,
  ],
  addition: false,
}

const reportJson: Operation = {
  ...report,
  operationId: 'readSpaProductReport',
  path: '/v2/advertisers/{advertiserId}/reports/spa/product.json',
  summary: 'Read the SPA product performance report as JSON',
  description: 'The rows of the CSV report with totals and paging, for programs.',
  responses: [
    { ...answer('200', 'One page of the report.', reportJsonSchema), headers: reportHeaders },
    ...report.responses.slice(1),
  ],
  addition: true,
}

const reportSeries: Operation = {
  ...report,
  operationId: 'readSpaProductSeries',
  path: '/v2/advertisers/{advertiserId}/reports/spa/series.json',
  summary: 'Read the SPA product performance report day by day, as sums',
  description:
    'The same question as the report, answered with sums of its rows by day and over all pages, for ' +
    'charts and headings. Paging, order and dateBreakdown are of no effect.',
  queryParameters: Type.Object({}),
  responses: [answer('200', 'The sums.', reportSeriesSchema), ...report.responses.slice(1)],
  addition: true,
}

const me: Operation = {
  operationId: 'readMe',
  method: 'get',
  path: '/v2/me',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Read what the key may do',
  description: 'Scopes, and the advertisers and publishers that the key is for. For any valid key.',
  access: { scope: null, isAdvertiserBound: false },
  body: null,
  responses: [answer('200', 'About the key.', meSchema), unauthorized, otherwise],
  addition: true,
}

const account: Operation = {
  operationId: 'readAdvertiserAccount',
  method: 'get',
  path: '/v2/advertisers/{advertiserId}/account',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Read what the catalog holds of an advertiser',
  description:
    'Its campaigns, ad groups and assets, and the publishers, markets and creative sizes it can choose ' +
    'from. For keys of the advertiser with one of the scopes report:read, asset:write and site:read.',
  access: {
    scope: 'report:read',
    otherScopes: ['asset:write', 'site:read'],
    isAdvertiserBound: true,
  },
  pathParameters: advertiserParameter,
  body: null,
  responses: [
    answer('200', 'The account.', advertiserAccountSchema),
    unauthorized,
    forbidden,
    refusal('404', 'Not Found: there is no such advertiser.'),
    otherwise,
  ],
  addition: true,
}

const sealedDays: Operation = {
  operationId: 'listSealedDays',
  method: 'get',
  path: '/v2/advertisers/{advertiserId}/reports/spa/days',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'List the days that were sealed, or sealed again',
  description:
    'A sealed day keeps its figures until late input changes them; then it is sealed again under another ' +
    'revision. A client that keeps reports pulls only these days again.',
  access: { scope: 'report:read', isAdvertiserBound: true },
  pathParameters: advertiserParameter,
  queryParameters: sealedDaysQuerySchema,
  body: null,
  responses: [
    answer('200', 'The days.', sealedDaysSchema),
    unauthorized,
    forbidden,
    refusal('404', 'Not Found: there is no such advertiser.'),
    unprocessable,
    otherwise,
  ],
  addition: true,
}

const trafficQuality: Operation = {
  operationId: 'downloadTrafficQuality',
  method: 'get',
  path: '/v2/advertisers/{advertiserId}/reports/traffic-quality.csv',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Download which events counted and which did not, as CSV',
  description:
    'Events by day, market, publisher and kind (LOAD, IMPRESSION, CLICK): how many counted, and how many ' +
    `did not, by reason. The columns are ${trafficQualityColumns.join(', ')}.`,
  access: { scope: 'report:read', isAdvertiserBound: true },
  pathParameters: advertiserParameter,
  queryParameters: trafficQualityQuerySchema,
  body: null,
  responses: [
    {
      ...csv,
      headers: {
        'content-disposition': reportHeaders['content-disposition'],
        'x-total-rows': 'Rows over all pages.',
        'x-result-id': reportHeaders['x-result-id'],
        'x-complete-through': reportHeaders['x-complete-through'],
        'x-renewing-days': reportHeaders['x-renewing-days'],
      },
    },
    ...report.responses.slice(1),
  ],
  addition: true,
}

const attributions: Operation = {
  operationId: 'downloadAttributions',
  method: 'get',
  path: '/v2/advertisers/{advertiserId}/attributions',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Download the credited purchases as CSV',
  description:
    'One row for each line of a purchase that is credited to the advertiser: what UNITS_SOLD and ' +
    'CONVERSION_VALUE of the report are the sums of. The oldest purchase first. No row tells who bought.',
  access: { scope: 'report:read', isAdvertiserBound: true },
  pathParameters: advertiserParameter,
  queryParameters: attributionsQuerySchema,
  body: null,
  responses: [
    {
      ...csv,
      description: `Columns: ${attributionColumns.join(', ')}. RFC 4180, UTF-8.`,
    },
    unauthorized,
    forbidden,
    refusal('404', 'Not Found: there is no such advertiser.'),
    unprocessable,
    otherwise,
  ],
  addition: true,
}

const ownExplanation: Operation = {
  operationId: 'explainAttribution',
  method: 'get',
  path: '/v2/advertisers/{advertiserId}/attributions/{publisherId}/{transactionId}',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Explain why a purchase is credited',
  description:
    "The lines credited to the advertiser, with its own clicks and views that won or lost. Others' are " +
    'counted and never named.',
  access: { scope: 'report:read', isAdvertiserBound: true },
  pathParameters: Type.Object({
    advertiserId: int32(),
    publisherId: int32(),
    transactionId: Type.String({ description: 'Percent-encoded.' }),
  }),
  body: null,
  responses: [
    answer('200', 'The explanation.', ownExplanationSchema),
    unauthorized,
    forbidden,
    refusal('404', 'Not Found: no such purchase is credited to this advertiser.'),
    unprocessable,
    otherwise,
  ],
  addition: true,
}

const addAsset: Operation = {
  operationId: 'addDisplayAdGroupAsset',
  method: 'post',
  path: '/display/v2/advertisers/{advertiserId}/campaigns/{campaignId}/display/ad-groups/{adGroupId}/assets',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Add an asset to a DISPLAY or SPONSORED_BRAND ad group',
  description:
    'The asset becomes the advertised one of the ad group and the creative size. Adding it again ' +
    'changes nothing and is answered the same.',
  access: { scope: 'asset:write', isAdvertiserBound: true },
  pathParameters: Type.Object({ advertiserId: int32(), campaignId: int32(), adGroupId: int32() }),
  // OpenAPI tells tools to ignore a parameter called accept; it stands here because the interface lists it.
  headerParameters: Type.Object({
    accept: Type.Optional(wordOf(['application/json'], { default: 'application/json' })),
  }),
  body: jsonBody(creativeRequestSchema),
  responses: [
    answer('201', 'Created.', displayAdGroupAssetResponseSchema),
    unauthorized,
    forbidden,
    refusal(
      'default',
      'Any other refusal: 404 for an ad group that does not exist there, 422 for a request that breaks a ' +
        'rule, 413, 429 and 503 as everywhere.'
    ),
  ],
  addition: false,
}

const siteLocations: Operation = {
  operationId: 'listEligibleSiteLocations',
  method: 'get',
  path: '/v2/advertisers/{advertiserId}/eligible/site-locations',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'List eligible sites and locations',
  description: 'The sites and locations the advertiser has access to.',
  access: { scope: 'site:read', isAdvertiserBound: true },
  pathParameters: advertiserParameter,
  queryParameters: siteLocationsQuerySchema,
  body: null,
  responses: [
    answer('200', 'The sites with their locations.', Type.Array(siteLocationsSchema)),
    unauthorized,
    forbidden,
    refusal(
      '404',
      'Not Found: there is no such advertiser or market, or no such publisher to which the advertiser has access.'
    ),
    unprocessable,
    otherwise,
  ],
  addition: false,
}

const intake: Operation = {
  operationId: 'readIntake',
  method: 'get',
  path: '/v2/publishers/{publisherId}/intake',
  ports: ['campaign'],
  tag: 'Campaign',
  summary: 'Read what a publisher sent',
  description:
    'Conversions and ad events of a publisher by day and by what became of them, for checking an ' +
    'integration. Days are those of UTC.',
  access: { scope: 'intake:read', isAdvertiserBound: false, isPublisherBound: true },
  pathParameters: Type.Object({ publisherId: int32() }),
  queryParameters: intakeQuerySchema,
  body: null,
  responses: [
    answer('200', 'What came, and what became of it.', intakeSchema),
    unauthorized,
    forbidden,
    refusal('404', 'Not Found: there is no such publisher.'),
    unprocessable,
    otherwise,
  ],
  addition: true,
}

export const campaignOperations: readonly Operation[] = [
  report,
  reportJson,
  reportSeries,
  me,
  account,
  sealedDays,
  trafficQuality,
  attributions,
  ownExplanation,
  addAsset,
  siteLocations,
  intake,
]
