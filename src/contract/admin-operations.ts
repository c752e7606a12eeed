import { Type } from 'typebox'
import {
  adEventLineSchema,
  conversionLineSchema,
  returnLineSchema,
  eventsResultSchema,
  keyListSchema,
  keyRequestSchema,
  keyResponseSchema,
  ratesResultSchema,
  rebuildRequestSchema,
  rebuildResponseSchema,
  statusResponseSchema,
  trackingLinksRequestSchema,
  trackingLinksResponseSchema,
} from './admin.ts'
import { admin, refusals } from './admin-operation.ts'
import { auditPageSchema, auditQuerySchema } from './audit.ts'
import {
  catalogBundleInputSchema,
  catalogBundleSchema,
  catalogResultSchema,
} from './catalog-bundle.ts'
import { catalogPageSchema, pageKinds, pageLimits } from './catalog-pages.ts'
import { catalogId, wordOf } from './fields.ts'
import { answer, jsonBody, refusal, type Operation } from './operation.ts'
import { feedResultSchema, feedRowSchema, productPageSchema } from './products.ts'
import { readLinkRequestSchema, servedAdReadingSchema } from './served-ad.ts'
import { unconvertedPageSchema, unconvertedQuerySchema } from './unconverted.ts'
import { upkeepOperations } from './upkeep-operations.ts'

const dryRun = Type.Optional(
  Type.Boolean({ description: 'true: the same checks and the same answer, but nothing is stored.' })
)
const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: pageLimits.max,
    description: `Entries per page, ${pageLimits.default} when absent.`,
  })
)
const marketPath = Type.Object({ id: catalogId({ description: 'Of the market.' }) })
const noMarket = refusal('404', 'Not Found: there is no such market.')

const catalogOperations: readonly Operation[] = [
  admin({
    operationId: 'putCatalog',
    method: 'put',
    path: '/catalog',
    summary: 'Add or replace entries of the catalog',
    description:
      'Every reference is checked first; all entries are taken or none. Entries the bundle does not name ' +
      'stay as they are. At most 64 MiB.',
    queryParameters: Type.Object({ dryRun }),
    body: jsonBody(catalogBundleInputSchema),
    responses: [answer('200', 'All entries are taken.', catalogResultSchema), ...refusals],
  }),
  admin({
    operationId: 'getCatalog',
    method: 'get',
    path: '/catalog',
    summary: 'Read the catalog',
    description: 'The entries as a bundle that could be put again.',
    body: null,
    responses: [answer('200', 'The catalog.', catalogBundleSchema), ...refusals],
  }),
  admin({
    operationId: 'listCatalogEntries',
    method: 'get',
    path: '/catalog/{kind}',
    summary: 'Read one kind of entries, page by page',
    description: 'Ordered by id, those that are no longer active too. Pages never repeat an entry.',
    pathParameters: Type.Object({ kind: wordOf(pageKinds) }),
    queryParameters: Type.Object({
      after: Type.Optional(
        Type.String({ description: 'The `next` of the page before; the first page when absent.' })
      ),
      limit,
    }),
    body: null,
    responses: [
      answer('200', 'A page.', catalogPageSchema),
      refusal('404', 'Not Found: there is no such kind of entries.'),
      ...refusals,
    ],
  }),
]

const productOperations: readonly Operation[] = [
  admin({
    operationId: 'putProducts',
    method: 'put',
    path: '/markets/{id}/products',
    summary: 'Load a merchant feed',
    description:
      'A Google Merchant feed, TSV or CSV with a header row, UTF-8, without a limit on the whole, at most ' +
      '1 MiB a row. Rows that break a rule are refused one by one and the others are taken. Of rows for ' +
      'the same product the last one wins. A feed that breaks off is not answered; what was read until ' +
      'then is stored, and loading it again is harmless.',
    pathParameters: marketPath,
    queryParameters: Type.Object({
      dryRun,
      replace: Type.Optional(
        Type.Boolean({
          description:
            'true: products of the market that the feed does not name become inactive once it is whole.',
        })
      ),
    }),
    body: { mediaType: 'text/tab-separated-values', schema: feedRowSchema, isStream: true },
    responses: [
      answer('200', 'The feed is read to its end.', feedResultSchema),
      noMarket,
      ...refusals,
    ],
  }),
  admin({
    operationId: 'listProducts',
    method: 'get',
    path: '/markets/{id}/products',
    summary: 'Read the products of a market, page by page',
    description:
      'Ordered by the text by which products are equal, those that are no longer active too. Pages never ' +
      'repeat a product.',
    pathParameters: marketPath,
    queryParameters: Type.Object({
      after: Type.Optional(
        Type.String({ description: 'The `next` of the page before; the first page when absent.' })
      ),
      limit,
      gtin: Type.Optional(Type.String({ maxLength: 60, description: 'This product only.' })),
      title: Type.Optional(
        Type.String({ maxLength: 500, description: 'A part of the title, in any case.' })
      ),
    }),
    body: null,
    responses: [answer('200', 'A page.', productPageSchema), noMarket, ...refusals],
  }),
]

const keyOperations: readonly Operation[] = [
  admin({
    operationId: 'createKey',
    method: 'post',
    path: '/keys',
    summary: 'Make a key',
    description: 'The answer is the only place where the key itself is ever shown.',
    body: jsonBody(keyRequestSchema),
    responses: [answer('201', 'The key is made.', keyResponseSchema), ...refusals],
  }),
  admin({
    operationId: 'listKeys',
    method: 'get',
    path: '/keys',
    summary: 'List the keys',
    description: 'All keys with their state, never the keys themselves.',
    body: null,
    responses: [answer('200', 'The keys.', keyListSchema), ...refusals],
  }),
  admin({
    operationId: 'revokeKey',
    method: 'delete',
    path: '/keys/{id}',
    summary: 'Revoke a key',
    description: 'Works within 5 seconds everywhere and cannot be undone.',
    pathParameters: Type.Object({ id: Type.String({ description: 'As listed.' }) }),
    body: null,
    responses: [
      answer('204', 'The key is revoked.'),
      refusal('404', 'Not Found: there is no such key.'),
      ...refusals,
    ],
  }),
]

const eventOperations: readonly Operation[] = [
  admin({
    operationId: 'mintTrackingLinks',
    method: 'post',
    path: '/tracking-links',
    scope: 'link:mint',
    summary: 'Mint tracking links',
    description: 'Tracking data and its three addresses for up to 1000 served ads.',
    body: jsonBody(trackingLinksRequestSchema),
    responses: [
      answer('200', 'One link per ad, in the order of the request.', trackingLinksResponseSchema),
      ...refusals,
    ],
  }),
  admin({
    operationId: 'readTrackingLink',
    method: 'post',
    path: '/tracking-links/read',
    summary: 'Read a tracking link',
    description:
      'What its tracking data says, which events came of it and which purchases are credited to it. A ' +
      'POST, so that the tracking data stands in no address; nothing is counted or changed. Whom it was ' +
      'served to is not shown.',
    body: jsonBody(readLinkRequestSchema),
    responses: [
      answer('200', 'What is known of the served ad.', servedAdReadingSchema),
      ...refusals,
    ],
  }),
  admin({
    operationId: 'backfillEvents',
    method: 'post',
    path: '/events',
    scope: 'events:write',
    summary: 'Backfill events',
    description:
      'One event per line with the instant of its receipt, for migrations and tests. The rules of live ' +
      'events hold. At most 1 MiB a line, without a limit on the whole.',
    body: {
      mediaType: 'application/x-ndjson',
      schema: Type.Union([adEventLineSchema, conversionLineSchema, returnLineSchema]),
      isStream: true,
    },
    responses: [
      answer('200', 'The accepted lines are stored durably.', eventsResultSchema),
      ...refusals,
    ],
  }),
  admin({
    operationId: 'getStatus',
    method: 'get',
    path: '/status',
    summary: 'Read the state of the pipeline',
    description: 'What waits, what is sealed, what does not count and why.',
    body: null,
    responses: [answer('200', 'The state.', statusResponseSchema), ...refusals],
  }),
]

const auditOperations: readonly Operation[] = [
  admin({
    operationId: 'readAudit',
    method: 'get',
    path: '/audit',
    summary: 'Read who changed what',
    description:
      'The record of every change that was made with a key, newest first: at most `limit` records (100 ' +
      'when absent), and the cursor of the next page.',
    queryParameters: auditQuerySchema,
    body: null,
    responses: [answer('200', 'One page of the record.', auditPageSchema), ...refusals],
  }),
]

const figureOperations: readonly Operation[] = [
  admin({
    operationId: 'putRates',
    method: 'put',
    path: '/rates',
    summary: 'Load reference rates',
    description:
      "The European Central Bank's CSV, daily or historic, all of it or nothing. Days whose amounts were " +
      'converted by other rates, or not at all, are sealed again.',
    body: { mediaType: 'text/csv', schema: Type.String(), isStream: true },
    responses: [answer('200', 'The rates are stored.', ratesResultSchema), ...refusals],
  }),
  admin({
    operationId: 'listUnconverted',
    method: 'get',
    path: '/unconverted',
    summary: 'List the amounts that have no rate',
    description:
      'What counts but adds nothing to reports, because no rate leads from its currency to that of the ' +
      'market: by date, market, advertiser and currency, page by page. Lines are those that the default ' +
      'profile credits.',
    queryParameters: unconvertedQuerySchema,
    body: null,
    responses: [answer('200', 'A page.', unconvertedPageSchema), ...refusals],
  }),
  admin({
    operationId: 'rebuildDays',
    method: 'post',
    path: '/rebuilds',
    summary: 'Compute days again',
    description:
      'Attributes the purchases of the days again and seals the days under new revisions, from the events. ' +
      'Reports go on with what is sealed until the new revision stands; the status shows how far it is.',
    body: jsonBody(rebuildRequestSchema),
    responses: [answer('202', 'It is going to be done.', rebuildResponseSchema), ...refusals],
  }),
]

export const adminOperations: readonly Operation[] = [
  ...catalogOperations,
  ...productOperations,
  ...keyOperations,
  ...eventOperations,
  ...figureOperations,
  ...upkeepOperations,
  ...auditOperations,
]
