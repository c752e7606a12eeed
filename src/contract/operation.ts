// What an HTTP operation is made of, and the answers that many of them share.
import type { TObject, TSchema } from 'typebox'
import type { Scope } from './admin.ts'
import { exceptionResponseSchema } from './errors-body.ts'

export type Port = 'tracking' | 'campaign'
export type Method = 'get' | 'head' | 'post' | 'put' | 'delete'

export interface Access {
  /** Null: any valid key will do, also one without a scope; for what a key may know of itself. */
  readonly scope: Scope | null
  /** Any of these will do as well. None when absent. */
  readonly otherScopes?: readonly Scope[]
  /** The key must also be for the advertiser that the path names. */
  readonly isAdvertiserBound: boolean
  /** The key must also be for the publisher that the path names. No when absent. */
  readonly isPublisherBound?: boolean
}

export interface RequestBody {
  readonly mediaType: string
  /** Of a stream, what one line of it must be. */
  readonly schema: TSchema
  readonly isStream: boolean
}

export interface OperationResponse {
  /** `default` covers what the system can answer beyond the statuses that the interface names. */
  readonly status: string
  readonly description: string
  /** Null: no body. */
  readonly content: { readonly mediaType: string; readonly schema: TSchema } | null
  /** Names and descriptions of telling headers; all are text. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Operation {
  readonly operationId: string
  readonly method: Method
  /** With parameters in braces, as OpenAPI spells it. */
  readonly path: string
  readonly ports: readonly Port[]
  readonly tag: 'Tracking' | 'Campaign' | 'Admin' | 'Operator'
  readonly summary: string
  readonly description: string
  /** Null: public. */
  readonly access: Access | null
  /** Values of URLs are text: a number here is what the text must spell. */
  readonly pathParameters?: TObject
  readonly queryParameters?: TObject
  readonly headerParameters?: TObject
  readonly body: RequestBody | null
  readonly responses: readonly OperationResponse[]
  /** Beyond the five operations of the interface. */
  readonly addition: boolean
}

export function jsonBody(schema: TSchema): RequestBody {
  return { mediaType: 'application/json', schema, isStream: false }
}

export function answer(status: string, description: string, schema?: TSchema): OperationResponse {
  const content = schema === undefined ? null : { mediaType: 'application/json', schema }
  return { status, description, content }
}

export function refusal(status: string, description: string): OperationResponse {
  return answer(status, description, exceptionResponseSchema)
}

export const unauthorized: OperationResponse = {
  ...refusal('401', 'Unauthorized: the key is missing, malformed, unknown, expired or revoked.'),
  headers: { 'www-authenticate': 'The scheme to use: Bearer.' },
}

export const forbidden = refusal(
  '403',
  'Forbidden: the key lacks the scope, or the advertiser or publisher of the path, whether or not that exists.'
)

export const unprocessable = refusal('422', 'Unprocessable Entity: the request breaks a rule.')

export const otherwise = refusal(
  'default',
  'Any other refusal: 413 for a body that is too large, 429 with Retry-After beyond a rate limit, ' +
    '503 with Retry-After while the service cannot keep its promises.'
)
