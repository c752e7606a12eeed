import type { IncomingHttpHeaders } from 'node:http'
import { noContent, withHeaders } from './answers.ts'
import type { Answer } from './answers.ts'

// A header value is echoed only if it has the form of what it claims to be.
const originPattern = /^[\x21-\x7e]{1,512}$/
const namesPattern = /^[\w\-!#$%&'*+.^`|~, ]{1,1024}$/

const varyOnly: readonly string[] = ['vary', 'origin']
const answersVaried = new WeakMap<Answer, Answer>()
const day = '86400'

/**
 * Any page may call the links, with or without credentials. `sendBeacon` always sends credentials, and then
 * browsers refuse a wildcard, so the origin is echoed. No cookie is read or set, so this reveals nothing.
 */
function corsHeaders(origin: string): readonly string[] {
  if (!originPattern.test(origin)) return varyOnly
  return [
    ...varyOnly,
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
  ]
}

/** Adds the CORS headers to the answer to a link. Without an origin the result is always the same object. */
export function withCors(answer: Answer, origin: string | undefined): Answer {
  if (origin !== undefined) return withHeaders(answer, corsHeaders(origin))
  let varied = answersVaried.get(answer)
  if (varied === undefined) {
    varied = withHeaders(answer, varyOnly)
    answersVaried.set(answer, varied)
  }
  return varied
}

/** Answers every OPTIONS on a link, whatever the token: a preflight counts nothing and reveals nothing. */
export function answerPreflight(headers: IncomingHttpHeaders, allow: string): Answer {
  const requested = headers['access-control-request-headers']
  const isEchoable = requested !== undefined && namesPattern.test(requested)
  return withHeaders(noContent, [
    'allow',
    allow,
    'access-control-allow-methods',
    allow,
    'access-control-max-age',
    day,
    ...(isEchoable ? ['access-control-allow-headers', requested] : []),
  ])
}
