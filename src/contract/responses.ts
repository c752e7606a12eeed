// The answers of operations, as the document describes them: statuses, bodies, headers, and the codes of
// refusals. The fuzz run holds what the service answers against this.
import { Type, type TSchema } from 'typebox'
import { errorCodeHeader, refusalKinds, type RefusalCode } from './refusal-codes.ts'

export interface HeaderDescription {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  /** Default false. */
  readonly required?: true
}

export interface OperationResponse {
  /** `default` covers what is refused before it is known which operation is meant, and failures. */
  readonly status: string
  readonly description: string
  /** Null: no body. */
  readonly content: { readonly mediaType: string; readonly schema: TSchema } | null
  readonly headers?: Readonly<Record<string, HeaderDescription>>
  /** Of a refusal: what `shelftrace-error-code` may say. */
  readonly codes?: readonly RefusalCode[]
}

export const exceptionResponseSchema = Type.Object(
  {
    messages: Type.Optional(
      Type.Array(Type.String(), { description: 'What is wrong, one sentence each.' })
    ),
  },
  { title: 'ExceptionResponse', description: 'The body of every answer that is not a success.' }
)

export function header(
  description: string,
  schema: HeaderDescription['schema'] = { type: 'string' }
): HeaderDescription {
  return { description, schema }
}

/** A number as text, which is what a header is. */
export function countHeader(description: string): HeaderDescription {
  return header(description, { type: 'integer', minimum: 0 })
}

/** Those that many answers have; the document describes each once. */
export const sharedHeaders = {
  'www-authenticate': header('The scheme to use: `Bearer`.'),
  'retry-after': {
    ...countHeader('Seconds to wait before the request is repeated.'),
    required: true,
  },
  'ratelimit-limit': countHeader('Requests that the key may send within a minute.'),
  'ratelimit-remaining': countHeader('How many of them are left.'),
  'ratelimit-reset': countHeader('Seconds until all of them are there again.'),
  'x-request-id': header('With 500: names the failure in the log of the service.'),
  allow: header('With 405: the methods that the path takes.'),
} as const satisfies Record<string, HeaderDescription>

/** Absent for the configured admin key, which has no limit. */
export const rateHeaders = {
  'ratelimit-limit': sharedHeaders['ratelimit-limit'],
  'ratelimit-remaining': sharedHeaders['ratelimit-remaining'],
  'ratelimit-reset': sharedHeaders['ratelimit-reset'],
}

const retryAfter = { 'retry-after': sharedHeaders['retry-after'] }

const words: Readonly<Record<string, string>> = {
  400: 'Bad Request: the request is not valid HTTP, or its path has a broken percent escape.',
  401: 'Unauthorized: the key is missing, malformed, unknown, expired or revoked, or the sign-on is refused.',
  403: 'Forbidden: the key lacks the scope, or is not for the advertiser or publisher of the path, whether or not that exists.',
  404: 'Not Found: something that the path names does not exist.',
  409: 'Conflict: the state of the node does not allow it.',
  413: 'Content Too Large: the body has more bytes than the operation takes.',
  422: 'Unprocessable Entity: the request breaks a rule.',
  429: 'Too Many Requests: the key or its address asks for too much at once.',
  503: 'Service Unavailable: the service cannot keep its promises right now, or is stopping.',
}

const ownHeaders: Readonly<Record<string, OperationResponse['headers']>> = {
  401: { 'www-authenticate': sharedHeaders['www-authenticate'] },
  403: rateHeaders,
  404: rateHeaders,
  409: rateHeaders,
  413: rateHeaders,
  422: rateHeaders,
  429: { ...retryAfter, ...rateHeaders },
  503: retryAfter,
}

export function answer(status: string, description: string, schema?: TSchema): OperationResponse {
  const content = schema === undefined ? null : { mediaType: 'application/json', schema }
  return { status, description, content }
}

type Replaced = Readonly<Record<string, string>>

/** One response for each status of the codes. `replaced` has other descriptions for some of the statuses. */
export function refusals(
  codes: readonly RefusalCode[],
  replaced: Replaced = {}
): readonly OperationResponse[] {
  const statuses = new Set(codes.map((code) => refusalKinds[code].status))
  return [...statuses]
    .toSorted((one, other) => one - other)
    .map((status) => {
      const own = codes.filter((code) => refusalKinds[code].status === status)
      const description = replaced[status] ?? words[status] ?? ''
      return refusal(`${status}`, { description, codes: own, headers: ownHeaders[status] })
    })
}

/** The same without the headers of an operation that asks for a key. */
export function publicRefusals(
  codes: readonly RefusalCode[],
  replaced: Replaced = {}
): readonly OperationResponse[] {
  return refusals(codes, replaced).map((response) =>
    refusal(response.status, {
      ...response,
      headers: response.status === '503' ? retryAfter : undefined,
    })
  )
}

type RefusalWords = Pick<OperationResponse, 'description'> & {
  readonly codes?: readonly RefusalCode[]
  readonly headers?: OperationResponse['headers'] | undefined
}

function refusal(
  status: string,
  { description, codes = [], headers = {} }: RefusalWords
): OperationResponse {
  return {
    ...answer(status, description, exceptionResponseSchema),
    codes,
    headers: { [errorCodeHeader]: codeHeader(codes), ...headers },
  }
}

function codeHeader(codes: readonly RefusalCode[]): HeaderDescription {
  return {
    description: 'Why, as a word for programs; an addition to the interface.',
    schema: { type: 'string', enum: codes },
    required: true,
  }
}

/** What is refused on the tracking port whatever the operation, and failures. */
export const otherwiseTracking = refusal('default', {
  description:
    'Any other refusal: 405 with Allow for another method, 408 if the request came too slowly, 417 for an ' +
    'expectation other than 100-continue, 431 for headers above 32 KiB; 500 if the service failed.',
  codes: [
    'METHOD_NOT_ALLOWED',
    'REQUEST_TOO_SLOW',
    'EXPECTATION_UNMET',
    'HEADERS_TOO_LARGE',
    'SERVICE_FAILED',
  ],
  headers: { allow: sharedHeaders.allow },
})

/** The same on the campaign port. */
export const otherwise = refusal('default', {
  description: otherwiseTracking.description.replace(', 417', ', 414 for a path too long, 417'),
  codes: [...(otherwiseTracking.codes ?? []), 'PATH_TOO_LONG'],
  headers: { allow: sharedHeaders.allow, 'x-request-id': sharedHeaders['x-request-id'] },
})
