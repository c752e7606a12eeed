import type { ServerResponse } from 'node:http'
import { errorCodeHeader, refusalKinds, type RefusalCode } from '../contract/refusal-codes.ts'
import { errorKinds, type ErrorCode } from '../errors.ts'

/**
 * A whole answer. Header lists are flat (name, value, name, value), the cheapest form for Node, whose type
 * requires mutable lists. They are shared and never changed.
 */
export interface Answer {
  readonly status: number
  readonly headers: string[]
  readonly body: string | Buffer
  /** The reason of a refusal, for the counts. A reason always comes with the same status. */
  readonly reason?: RefusalReason
}

/** What callers are told, by the reason that is counted. */
const codesByReason = {
  body: 'DELIVERY_INVALID',
  encoding: 'DELIVERY_ENCODING_INVALID',
  'from-browser': 'DELIVERY_FROM_BROWSER',
  token: 'TRACKING_DATA_INVALID',
  'missing-token': 'TRACKING_DATA_MISSING',
  'unknown-path': 'PATH_UNKNOWN',
  'broken-escape': 'PATH_MALFORMED',
  'missing-host': 'HTTP_MALFORMED',
  'several-hosts': 'HTTP_MALFORMED',
  'transfer-coding': 'HTTP_MALFORMED',
  method: 'METHOD_NOT_ALLOWED',
  'too-large': 'BODY_TOO_LARGE',
  malformed: 'HTTP_MALFORMED',
  'headers-too-large': 'HEADERS_TOO_LARGE',
  'too-slow': 'REQUEST_TOO_SLOW',
  tunnel: 'METHOD_NOT_ALLOWED',
  expectation: 'EXPECTATION_UNMET',
  busy: 'SERVICE_BUSY',
  stopping: 'SERVICE_NOT_READY',
  failure: 'SERVICE_FAILED',
} as const satisfies Record<string, RefusalCode>

export type RefusalReason = keyof typeof codesByReason | ErrorCode

const common = ['cache-control', 'no-store', 'x-content-type-options', 'nosniff']
const json = ['content-type', 'application/json', ...common]

/**
 * The answer to a POST, which no cache keeps, with a body that is always the same: no other header is worth
 * the 0.3 µs it costs. All other answers carry `nosniff` and `no-store`.
 */
export const stored: Answer = {
  status: 200,
  headers: ['content-type', 'application/json', 'content-length', '2'],
  body: '{}',
}

/** A transparent image of one pixel, which pages under any embedder policy may show. */
const pixelBytes = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
export const pixel: Answer = {
  status: 200,
  headers: [
    'content-type',
    'image/gif',
    'content-length',
    String(pixelBytes.length),
    'cross-origin-resource-policy',
    'cross-origin',
    ...common,
  ],
  body: pixelBytes,
}

export const noContent: Answer = { status: 204, headers: common, body: '' }

export function redirect(location: string): Answer {
  const headers = ['location', location, 'content-length', '0', ...common]
  return { status: 302, headers, body: '' }
}

export function answerJson(status: number, body: string): Answer {
  const length = String(Buffer.byteLength(body))
  return { status, headers: ['content-length', length, ...json], body }
}

/** Every refusal has this shape, and its code as a header. Messages never repeat what was received. */
export function refusal(reason: RefusalReason, messages: readonly string[]): Answer {
  const code = isErrorCode(reason) ? errorKinds[reason].refusal : codesByReason[reason]
  const answer = answerJson(refusalKinds[code].status, JSON.stringify({ messages }))
  return { ...withHeaders(answer, [errorCodeHeader, code]), reason }
}

function isErrorCode(reason: RefusalReason): reason is ErrorCode {
  return Object.hasOwn(errorKinds, reason)
}

export function withHeaders(answer: Answer, headers: readonly string[]): Answer {
  return headers.length === 0 ? answer : { ...answer, headers: [...answer.headers, ...headers] }
}

const answersOverTls = new WeakMap<Answer, Answer>()

/**
 * Browsers that used HTTPS once use nothing else for a year. This does not include subdomains, which may
 * belong to others.
 */
export function withTlsOnly(answer: Answer): Answer {
  let strict = answersOverTls.get(answer)
  if (strict === undefined) {
    strict = withHeaders(answer, ['strict-transport-security', 'max-age=31536000'])
    answersOverTls.set(answer, strict)
  }
  return strict
}

/** Does nothing if the client has gone or an answer is under way. */
export function send(response: ServerResponse, answer: Answer): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body)
}
