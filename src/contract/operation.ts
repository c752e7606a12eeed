// The parts of an HTTP operation, and the builders for the parts that many operations share.
import { Type, type TObject, type TSchema } from 'typebox'
import { scopes, type Scope } from './admin.ts'
import type { Immutable } from './fields.ts'
import type { invitationScope } from './invitations.ts'
import type { RefusalCode } from './refusal-codes.ts'
import { otherwise, rateHeaders, refusals, type OperationResponse } from './responses.ts'
import type { Parsed } from './validate.ts'

export type Port = 'tracking' | 'campaign'
export type Method = 'get' | 'head' | 'post' | 'put' | 'delete'

export interface Access {
  /** `invitation:accept` stands for an invitation, which opens nothing else. */
  readonly scope: Scope | typeof invitationScope
  /** Scopes that are enough as well, besides `admin`. */
  readonly otherScopes?: readonly Scope[]
  /** The key must also be for the advertiser in the path. */
  readonly isAdvertiserBound: boolean
  /** The key must also be for the publisher in the path. Default false. */
  readonly isPublisherBound?: boolean
}

/**
 * For questions about the key itself. Every scope is named, so that a stored key without one, or with
 * scopes that this version does not know, opens nothing.
 */
export const anyScope: Pick<Access, 'scope' | 'otherScopes'> = {
  scope: scopes[0],
  otherScopes: scopes.slice(1),
}

export interface JsonBody<Value = unknown> {
  readonly mediaType: 'application/json'
  readonly schema: TSchema
  readonly isStream: false
  /** Checks the schema, and the rules that a schema cannot say. */
  readonly parse: (value: unknown) => Parsed<Value>
}

export interface StreamBody {
  readonly mediaType: string
  /** The schema of one line. */
  readonly schema: TSchema
  readonly isStream: true
}

export type RequestBody = JsonBody | StreamBody

const noParameters = Type.Object({})
export type NoParameters = typeof noParameters

/** A value of a schema with every property optional. */
export type Given<Parameters extends TObject> = Immutable<Partial<Type.Static<Parameters>>>

/** An operation without its id, which is its name in the table. */
export interface Description<
  Path extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends RequestBody | null = RequestBody | null,
> {
  readonly method: Method
  /** With parameters in braces, as OpenAPI spells it. */
  readonly path: string
  readonly ports: readonly Port[]
  readonly tag: 'Tracking' | 'Campaign' | 'Admin' | 'Operator'
  readonly summary: string
  readonly description: string
  /** Null: public. */
  readonly access: Access | null
  /** Parameters arrive as text: a number here is what the text must spell. */
  readonly pathParameters?: Path
  readonly queryParameters?: Query
  /** Rules that the schema of the query cannot say. Gets the parameters that are valid by themselves. */
  queryFaults?(given: Given<Query>): readonly string[]
  readonly headerParameters?: TObject
  readonly body: Body
  readonly responses: readonly OperationResponse[]
  /** Beyond the five operations of the interface. */
  readonly addition: boolean
  /** Refused from a browser. Default false. */
  readonly isBackendOnly?: boolean
  /** Of an operation of the interface: the statuses that it names; all others are additions. */
  readonly interfaceStatuses?: readonly string[]
}

export interface Operation<
  Path extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends RequestBody | null = RequestBody | null,
> extends Description<Path, Query, Body> {
  readonly operationId: string
}

/**
 * Whether an unknown query parameter is refused: it may be a misspelt `dryRun`, and what was done cannot be undone. The
 * operations of the interface, and all that only read, ignore what others append to an address.
 */
export function refusesUnknownParameters({ tag, method }: Pick<Description, 'tag' | 'method'>) {
  return tag === 'Admin' && method !== 'get'
}

/** Gives every operation its name in the table as its id. */
export function withIds<Table extends Readonly<Record<string, Description>>>(
  table: Table
): { readonly [Id in keyof Table]: Table[Id] & { readonly operationId: string } } {
  const named = Object.entries(table).map(([operationId, one]) => [
    operationId,
    { ...one, operationId },
  ])
  // Object.fromEntries forgets the names.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(named) as ReturnType<typeof withIds<Table>>
}

export function jsonBody<Value>(schema: TSchema, parse: JsonBody<Value>['parse']): JsonBody<Value> {
  return { mediaType: 'application/json', schema, isStream: false, parse }
}

export function streamBody(mediaType: string, schema: TSchema): StreamBody {
  return { mediaType, schema, isStream: true }
}

type Shared = 'method' | 'ports' | 'tag' | 'access' | 'body' | 'responses' | 'addition'

export interface Details<
  Path extends TObject,
  Query extends TObject,
  Body extends RequestBody | null,
> extends Omit<Description<Path, Query, Body>, Shared> {
  /** Default GET. */
  readonly method?: Method
  /** Absent: none. */
  readonly body?: Body
  readonly success: OperationResponse
  /** Where the path may name something that does not exist: what the 404 says. */
  readonly notFound?: string
  /** Whether it takes one of the places of reports. Default false. */
  readonly takesPlace?: boolean
  /** Beyond those that follow from key, path, parameters and body. */
  readonly otherRefusals?: readonly RefusalCode[]
}

/** An operation of the campaign port that asks for a key, beyond the interface unless told otherwise. */
export function withKey<
  Path extends TObject = NoParameters,
  Query extends TObject = NoParameters,
  Body extends RequestBody | null = null,
>(
  details: Details<Path, Query, Body> & Pick<Description, 'tag'> & { readonly access: Access }
): Description<Path, Query, Body> {
  const {
    success,
    notFound,
    takesPlace: _takesPlace,
    otherRefusals: _other,
    body,
    ...rest
  } = details
  const notFoundWords = notFound === undefined ? {} : { 404: `Not Found: ${notFound}` }
  return {
    method: 'get',
    ...rest,
    ports: ['campaign'],
    // Without a body the type parameter is null, its default.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    body: (body ?? null) as Body,
    responses: [
      { ...success, headers: { ...success.headers, ...rateHeaders } },
      ...refusals(refusalCodesOf({ method: 'get', ...details }), notFoundWords),
      otherwise,
    ],
    addition: true,
  }
}

const ofEveryKey: readonly RefusalCode[] = [
  'HTTP_MALFORMED',
  'PATH_MALFORMED',
  'KEY_MISSING',
  'KEY_MALFORMED',
  'KEY_INVALID',
  'SIGN_ON_REFUSED',
  'PERSON_CHANGED',
  'SCOPE_MISSING',
  'PERSON_UNKNOWN',
  'CROSS_SITE_REFUSED',
  'KEY_RATE_EXCEEDED',
  'ADDRESS_RATE_EXCEEDED',
  'KEY_ANSWERS_EXCEEDED',
  'SERVICE_STOPPING',
  'WAREHOUSE_UNAVAILABLE',
  'KEYS_UNAVAILABLE',
]
const ofWholeBodies: readonly RefusalCode[] = [
  'BODY_TOO_LARGE',
  'KEY_BODIES_EXCEEDED',
  'SERVICE_BUSY',
]
const ofReports: readonly RefusalCode[] = [
  'KEY_REPORTS_EXCEEDED',
  'REPORTS_BUSY',
  'REPORT_STORE_FULL',
  'REPORT_OVERTAKEN',
]

function refusalCodesOf(
  details: Pick<
    Details<TObject, TObject, RequestBody | null>,
    'body' | 'queryParameters' | 'notFound' | 'takesPlace' | 'otherRefusals'
  > &
    Pick<Description, 'tag' | 'method'> & { readonly access: Access }
): readonly RefusalCode[] {
  const { access, body, queryParameters, notFound, takesPlace = false, otherRefusals } = details
  const isBound = access.isAdvertiserBound || access.isPublisherBound === true
  const takesInput =
    (body ?? null) !== null || queryParameters !== undefined || refusesUnknownParameters(details)
  return [
    ...ofEveryKey,
    ...when(isBound, ['PARTY_FORBIDDEN']),
    ...when(notFound !== undefined, ['RESOURCE_UNKNOWN']),
    ...when(body?.isStream === false, ofWholeBodies),
    ...when(takesInput, ['REQUEST_INVALID']),
    ...when(takesPlace, ofReports),
    ...(otherRefusals ?? []),
  ]
}

function when(isSo: boolean, codes: readonly RefusalCode[]): readonly RefusalCode[] {
  return isSo ? codes : []
}

/** An operation below `/admin/v1`, for the scope `admin` unless a smaller one is enough. */
export function admin<
  Path extends TObject = NoParameters,
  Query extends TObject = NoParameters,
  Body extends RequestBody | null = null,
>({
  scope = 'admin',
  path,
  ...rest
}: Details<Path, Query, Body> & { readonly scope?: Scope }): Description<Path, Query, Body> {
  const access = { scope, isAdvertiserBound: false }
  return withKey({ ...rest, path: `/admin/v1${path}`, tag: 'Admin', access })
}
