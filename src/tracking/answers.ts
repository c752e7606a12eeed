import type { ServerResponse } from 'node:http'
import type { ErrorCode } from '../errors.ts'

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

export type RefusalReason =
  | 'body'
  | 'encoding'
  | 'from-browser'
  | 'token'
  | 'missing-token'
  | 'unknown-path'
  | 'broken-escape'
  | 'missing-host'
  | 'method'
  | 'too-large'
  | 'malformed'
  | 'headers-too-large'
  | 'too-slow'
  | 'tunnel'
  | 'expectation'
  | 'busy'
  | 'stopping'
  | 'failure'
  | ErrorCode

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

/** Every refusal has this shape. Messages never repeat what was received. */
export function refusal(
  status: number,
  messages: readonly string[],
  reason: RefusalReason
): Answer {
  return { ...answerJson(status, JSON.stringify({ messages })), reason }
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
