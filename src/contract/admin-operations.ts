import { Type } from 'typebox'
import {
  adEventLineSchema,
  conversionLineSchema,
  eventsResultSchema,
  keyListSchema,
  keyRequestSchema,
  keyResponseSchema,
  statusResponseSchema,
  trackingLinksRequestSchema,
  trackingLinksResponseSchema,
  type Scope,
} from './admin.ts'
import { auditPageSchema, auditQuerySchema } from './audit.ts'
import { catalogBundleSchema, catalogResultSchema } from './catalog-bundle.ts'
import {
  answer,
  forbidden,
  jsonBody,
  otherwise,
  refusal,
  unauthorized,
  unprocessable,
  type Operation,
} from './operation.ts'

const refusals = [unauthorized, forbidden, unprocessable, otherwise]

interface AdminDetails extends Omit<Operation, 'ports' | 'tag' | 'access' | 'addition'> {
  /** `admin` unless a smaller one will do. */
  readonly scope?: Scope
}

function admin({ scope = 'admin', path, ...rest }: AdminDetails): Operation {
  return {
    ...rest,
    path: `/admin/v1${path}`,
    ports: ['campaign'],
    tag: 'Admin',
    access: { scope, isAdvertiserBound: false },
    addition: true,
  }
}

const catalogOperations: readonly Operation[] = [
  admin({
    operationId: 'putCatalog',
    method: 'put',
    path: '/catalog',
    summary: 'Add or replace entries of the catalog',
    description:
      'Every reference is checked first; all entries are taken or none. Entries the bundle does not name ' +
      'stay as they are. At most 64 MiB.',
    body: jsonBody(catalogBundleSchema),
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
      schema: Type.Union([adEventLineSchema, conversionLineSchema]),
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

export const adminOperations: readonly Operation[] = [
  ...catalogOperations,
  ...keyOperations,
  ...eventOperations,
  ...auditOperations,
]
