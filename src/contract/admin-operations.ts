// What the platform does with a key of the admin API: catalog, products, keys, events and figures.
import { Type } from 'typebox'
import {
  keyListSchema,
  keyRequestSchema,
  keyResponseSchema,
  parseKeyRequest,
  parseRebuildRequest,
  parseTrackingLinksRequest,
  ratesResultSchema,
  rebuildRequestSchema,
  rebuildResponseSchema,
  statusResponseSchema,
  trackingLinksRequestSchema,
  trackingLinksResponseSchema,
} from './admin.ts'
import {
  auditExportQuerySchema,
  auditLineSchema,
  auditPageSchema,
  auditQuerySchema,
  nextHeader,
} from './audit.ts'
import {
  catalogBundleInputSchema,
  catalogBundleSchema,
  catalogResultSchema,
  parseCatalogBundle,
} from './catalog-bundle.ts'
import { catalogPageSchema, pageKinds } from './catalog-pages.ts'
import {
  adEventLineSchema,
  conversionLineSchema,
  eventsResultSchema,
  returnLineSchema,
} from './event-lines.ts'
import {
  instantText,
  afterParameter,
  catalogId,
  flag,
  limitParameter,
  optional,
  text,
  wordOf,
} from './fields.ts'
import {
  invitationRequestSchema,
  invitationResponseSchema,
  invitationScope,
  parseInvitationRequest,
} from './invitations.ts'
import { admin, jsonBody, streamBody, withIds, withKey } from './operation.ts'
import { eventRangeFaults } from './parameters.ts'
import { answer, header } from './responses.ts'
import { feedResultSchema, feedRowSchema, productPageSchema } from './products.ts'
import { parsePersonRequest, personRequestSchema, personResponseSchema } from './sign-on.ts'
import { parseReadLinkRequest, readLinkRequestSchema, servedAdReadingSchema } from './served-ad.ts'
import { unconvertedLimits, unconvertedPageSchema, unconvertedQuerySchema } from './unconverted.ts'
import { statusHistorySchema } from './watch.ts'

const dryRun = optional(
  flag({
    default: false,
    description: 'true: the same checks and the same answer, but nothing is stored.',
  })
)
const after = afterParameter({ minLength: 1, maxLength: 60 })
const marketPath = Type.Object({ id: catalogId('The id of the market.') })
const noMarket = 'there is no such market.'

const catalogOperations = {
  putCatalog: admin({
    method: 'put',
    path: '/catalog',
    summary: 'Add or replace entries of the catalog',
    description:
      'Every reference is checked first; all entries are taken or none. Entries that the bundle does not ' +
      'name stay as they are. At most 64 MiB.',
    queryParameters: Type.Object({ dryRun }),
    body: jsonBody(catalogBundleInputSchema, parseCatalogBundle),
    success: answer('200', 'All entries are taken.', catalogResultSchema),
  }),
  getCatalog: admin({
    path: '/catalog',
    summary: 'Read the catalog',
    description: 'The entries as a bundle that could be put again.',
    success: answer('200', 'The catalog.', catalogBundleSchema),
  }),
  listCatalogEntries: admin({
    path: '/catalog/{kind}',
    summary: 'Read one kind of entries, page by page',
    description: 'Ordered by id, inactive entries included. Pages never repeat an entry.',
    pathParameters: Type.Object({ kind: wordOf(pageKinds) }),
    queryParameters: Type.Object({ after, limit: limitParameter }),
    success: answer('200', 'A page.', catalogPageSchema),
    notFound: 'there is no such kind of entries.',
  }),
  putProducts: admin({
    method: 'put',
    path: '/markets/{id}/products',
    summary: 'Load a merchant feed',
    description:
      'A Google Merchant feed, TSV or CSV with a header row, UTF-8, of any length, at most 1 MiB a row. ' +
      'Rows that break a rule are refused one by one and the others are taken. If several rows name the ' +
      'same product, the last one wins. A feed that breaks off is not answered; what was read until then ' +
      'is stored, and loading it again is harmless.',
    pathParameters: marketPath,
    queryParameters: Type.Object({
      dryRun,
      replace: optional(
        flag({
          default: false,
          description:
            'true: products of the market that the feed does not name become inactive once it is whole.',
        })
      ),
    }),
    body: streamBody('text/tab-separated-values', feedRowSchema),
    success: answer('200', 'The feed is read to its end.', feedResultSchema),
    notFound: noMarket,
  }),
  listProducts: admin({
    path: '/markets/{id}/products',
    summary: 'Read the products of a market, page by page',
    description:
      'Ordered by the text by which products are equal, inactive products included. Pages never repeat a ' +
      'product.',
    pathParameters: marketPath,
    queryParameters: Type.Object({
      after,
      limit: limitParameter,
      gtin: optional(
        Type.String({ minLength: 1, maxLength: 60, description: 'This product only.' })
      ),
      title: optional(
        Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'A part of the title; case does not matter.',
        })
      ),
    }),
    success: answer('200', 'A page.', productPageSchema),
    notFound: noMarket,
  }),
}

function instantRangeFaults({ from, to }: { readonly from?: string; readonly to?: string }) {
  const isReversed = from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to)
  return isReversed ? ['from must not be after to'] : []
}

const keyOperations = {
  createKey: admin({
    method: 'post',
    path: '/keys',
    summary: 'Make a key',
    description: 'The answer is the only place where the key itself is ever shown.',
    body: jsonBody(keyRequestSchema, parseKeyRequest),
    success: answer('201', 'The key is made.', keyResponseSchema),
  }),
  inviteKeyHolder: admin({
    method: 'post',
    path: '/invitations',
    summary: 'Invite a person',
    description:
      'Makes an invitation, which becomes a key for the wanted use once the person accepts it: nobody else ever sees ' +
      'that key. The answer is the only place where the code is ever shown. Until it is accepted, the invitation is ' +
      'in the list of keys, and is revoked like one.',
    body: jsonBody(invitationRequestSchema, parseInvitationRequest),
    success: answer('201', 'The invitation is made.', invitationResponseSchema),
  }),
  acceptInvitation: withKey({
    method: 'post',
    path: '/v2/invitation',
    tag: 'Admin',
    summary: 'Accept an invitation',
    description:
      'Called with the code of the invitation in place of a key. The answer is the only place where the key is ever ' +
      'shown. An invitation can be accepted once; then it is not valid any more.',
    access: { scope: invitationScope, isAdvertiserBound: false },
    success: answer('201', 'The key is made.', keyResponseSchema),
  }),
  admitPerson: admin({
    method: 'post',
    path: '/people',
    summary: 'Give a person access by the sign-on of a proxy',
    description:
      'The person is signed in by the proxy that SHELFTRACE_TRUSTED_USER_HEADER trusts, with these rights and without a ' +
      'key. The access is in the list of keys, and is revoked like one. A person has one at a time.',
    body: jsonBody(personRequestSchema, parsePersonRequest),
    success: answer('201', 'The person has access.', personResponseSchema),
  }),
  listKeys: admin({
    path: '/keys',
    summary: 'List the keys',
    description: 'All keys with their state, never the keys themselves.',
    success: answer('200', 'The keys.', keyListSchema),
  }),
  revokeKey: admin({
    method: 'delete',
    path: '/keys/{id}',
    summary: 'Revoke a key',
    description:
      'Takes effect within 5 seconds everywhere and cannot be undone. Deliveries that were received before ' +
      'the revocation count, unless `compromisedSince` says that others may have known the key by then. It ' +
      'can be told later too, and can only be moved to an earlier instant.',
    pathParameters: Type.Object({ id: text('The id as listed.') }),
    queryParameters: Type.Object({
      compromisedSince: optional(
        instantText(
          'No delivery counts by the key that was received since. Not in the future. Changes nothing if it is ' +
            'after the revocation.'
        )
      ),
    }),
    success: answer('204', 'The key is revoked.'),
    notFound: 'there is no such key.',
  }),
  readAudit: admin({
    path: '/audit',
    summary: 'Read who changed what',
    description:
      'The record of every change that was made with a key, newest first: at most `limit` records, ' +
      'and the cursor of the next page.',
    queryParameters: auditQuerySchema,
    queryFaults: instantRangeFaults,
    success: answer('200', 'One page of the record.', auditPageSchema),
  }),
  exportAudit: admin({
    path: '/audit/export',
    summary: 'Export who changed what, with the chain of hashes',
    description:
      'One record a line, oldest first: at most `limit` records, or fewer if their details ' +
      `are long. The header ${nextHeader} is the cursor of the next page; without it the page is the last.`,
    queryParameters: auditExportQuerySchema,
    queryFaults: instantRangeFaults,
    success: {
      status: '200',
      description: 'One page, one record a line.',
      content: { mediaType: 'application/x-ndjson', schema: auditLineSchema },
      headers: { [nextHeader]: header('The `after` of the next page; absent on the last one.') },
    },
  }),
}

const eventOperations = {
  mintTrackingLinks: admin({
    method: 'post',
    path: '/tracking-links',
    scope: 'link:mint',
    summary: 'Mint tracking links',
    description: 'Tracking data and its three addresses for up to 1000 served ads.',
    body: jsonBody(trackingLinksRequestSchema, parseTrackingLinksRequest),
    success: answer(
      '200',
      'One link per ad, in the order of the request.',
      trackingLinksResponseSchema
    ),
    otherRefusals: ['PARTY_FORBIDDEN'],
  }),
  readTrackingLink: admin({
    method: 'post',
    path: '/tracking-links/read',
    summary: 'Read a tracking link',
    description:
      'What its tracking data says, which events it caused and which purchases are credited to it. A POST, ' +
      'so that no address holds the tracking data; nothing is counted or changed. The person it was served ' +
      'to is not shown.',
    body: jsonBody(readLinkRequestSchema, parseReadLinkRequest),
    success: answer('200', 'What is known of the served ad.', servedAdReadingSchema),
  }),
  backfillEvents: admin({
    method: 'post',
    path: '/events',
    scope: 'events:write',
    summary: 'Backfill events',
    description:
      'One event per line with the instant of its receipt, which must not lie in the future, for migrations and ' +
      'tests. The rules of live events hold. At most 1 MiB a line, any number of lines.',
    body: streamBody(
      'application/x-ndjson',
      Type.Union([adEventLineSchema, conversionLineSchema, returnLineSchema])
    ),
    success: answer('200', 'The accepted lines are stored durably.', eventsResultSchema),
    otherRefusals: ['EVENT_NOT_STORED'],
  }),
  getStatus: admin({
    path: '/status',
    summary: 'Read the state of the pipeline',
    description: 'What waits, what is sealed, what does not count and why.',
    success: answer('200', 'The state.', statusResponseSchema),
  }),
  getStatusHistory: admin({
    path: '/status/history',
    summary: 'Read the last day of this node',
    description:
      'What waited and how long, minute by minute, and which alerts have ended. Kept by the node itself, over restarts.',
    success: answer('200', 'The last 24 hours.', statusHistorySchema),
  }),
}

const figureOperations = {
  putRates: admin({
    method: 'put',
    path: '/rates',
    summary: 'Load reference rates',
    description:
      "The European Central Bank's CSV, daily or historic, all of it or nothing; no day after tomorrow in UTC. " +
      'Days whose amounts were converted at other rates, or not at all, are sealed again.',
    body: streamBody('text/csv', Type.String()),
    success: answer('200', 'The rates are stored.', ratesResultSchema),
  }),
  listUnconverted: admin({
    path: '/unconverted',
    summary: 'List the amounts that have no rate',
    description:
      'What counts but adds nothing to reports, because there is no rate from its currency to that of the ' +
      'market: by date, market, advertiser and currency, page by page. Lines are those that the default ' +
      'profile credits.',
    queryParameters: unconvertedQuerySchema,
    queryFaults: (range) => eventRangeFaults(range, unconvertedLimits.daysMax),
    success: answer('200', 'A page.', unconvertedPageSchema),
  }),
  rebuildDays: admin({
    method: 'post',
    path: '/rebuilds',
    summary: 'Compute days again',
    description:
      'Attributes the purchases of the days again and seals the days under new revisions, from the events. ' +
      'Reports keep using what is sealed until the new revision is complete; the status shows the progress.',
    body: jsonBody(rebuildRequestSchema, parseRebuildRequest),
    success: answer('202', 'The days will be computed again.', rebuildResponseSchema),
    otherRefusals: ['DAYS_FINAL'],
  }),
}

export const adminOperations = withIds({
  ...catalogOperations,
  ...keyOperations,
  ...eventOperations,
  ...figureOperations,
})
