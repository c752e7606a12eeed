import { errorCodeHeader, isRefusalCode } from '../contract/refusal-codes.ts'
import { exceptionResponseSchema } from '../contract/responses.ts'
import { compileParser } from '../contract/validate.ts'
import {
  ClientError,
  expectSharing,
  listed,
  withDetails,
  type ClientErrorCode,
} from './client-error.ts'
import { openExchange, type Exchange, type HttpRequest } from './exchange.ts'
import type { Connection } from './options.ts'
import { parseRetryAfter, withRetries, type Called } from './retry.ts'
import type { Parameters, Route } from './route.ts'

/** Written down, not read from package.json, so that the client survives being bundled; a test compares. */
export const clientVersion = '0.1.0'

/** A page of a report as JSON has 10,000 rows of a few hundred bytes; titles may be long. */
const jsonBytesMax = 67_108_864
const refusalBytesMax = 65_536

export interface CallOptions {
  /** Ends the call, and the connection with it; it then fails with ABORTED. */
  readonly signal?: AbortSignal | undefined
}

export interface Call<T> {
  readonly route: Route
  readonly parameters?: Parameters
  /** Sent as JSON; absent: none. */
  readonly body?: object
  /** Whether a failure may be followed by another try. */
  readonly isRepeatable?: boolean
  readonly signal: AbortSignal | undefined
  /** Reads the answer, and closes the exchange unless it is still being read afterwards. */
  readonly take: (exchange: Exchange, attemptCount: number) => Promise<T>
}

export interface Caller {
  call<T>(call: Call<T>): Promise<Called<T>>
}

export function createCaller(connection: Connection, key: string | null): Caller {
  return {
    async call(call) {
      const request = buildRequest(call, connection, key)
      const { signal, isRepeatable = true } = call
      expectSharing(signal)
      const once = async (attemptCount: number) => {
        const exchange = await openExchange(request, { timeoutMs: connection.timeoutMs, signal })
        try {
          if (exchange.status !== call.route.successStatus) throw await refusalOf(exchange, key)
          return await call.take(exchange, attemptCount)
        } catch (error) {
          exchange.close()
          const { status } = exchange
          throw error instanceof ClientError ? withDetails(error, { status }) : error
        }
      }
      const policy = isRepeatable ? connection : { ...connection, attemptsMax: 1 }
      return await withRetries(once, { policy, signal })
    },
  }
}

function buildRequest(
  { route, parameters = {}, body }: Pick<Call<unknown>, 'route' | 'parameters' | 'body'>,
  { address }: Connection,
  key: string | null
): HttpRequest {
  return {
    url: route.resolve(address, parameters),
    method: route.method,
    headers: {
      accept: route.accept,
      'user-agent': `shelftrace-client/${clientVersion}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  }
}

const parseRefusal = compileParser(exceptionResponseSchema)

async function refusalOf(exchange: Exchange, key: string | null): Promise<ClientError> {
  const { status } = exchange
  const messages = messagesOf(await readRefusal(exchange), key)
  const retryAfterMs = parseRetryAfter(exchange.header('retry-after'), Date.now())
  const refusalCode = exchange.header(errorCodeHeader) ?? ''
  const code = codeOf(status, { isOfService: refusalCode !== '' || messages.length > 0 })
  return new ClientError(code, textOf(code, { status, messages }), {
    ...(isRefusalCode(refusalCode) && { refusalCode }),
    messages,
    retryAfterMs,
  })
}

/** The status says enough when the words cannot be had. */
async function readRefusal(exchange: Exchange): Promise<string> {
  try {
    const text = await exchange.readText(refusalBytesMax)
    exchange.close()
    return text
  } catch (error) {
    exchange.close()
    if (error instanceof ClientError && error.code !== 'ABORTED') return ''
    throw error
  }
}

/** Something in between may answer with all it was sent, the key included. */
function messagesOf(text: string, key: string | null): readonly string[] {
  const json = parseJson(text)
  const parsed = parseRefusal(json)
  const messages = parsed.ok ? (parsed.value.messages ?? []) : []
  return key === null ? messages : messages.map((message) => message.replaceAll(key, '[key]'))
}

/** What a proxy, or whatever else is at the address, refuses says nothing of the request. */
function codeOf(
  status: number,
  { isOfService }: { readonly isOfService: boolean }
): ClientErrorCode {
  if (status === 429) return 'RATE_LIMITED'
  // The request came too slowly (408), or earlier than a proxy takes it (425): nothing is wrong with it.
  if (status === 408 || status === 425 || status >= 500) return 'SERVICE_FAILED'
  if (status < 400 || !isOfService) return 'ANSWER_UNEXPECTED'
  switch (status) {
    case 401:
      return 'KEY_REFUSED'
    case 403:
      return 'ACCESS_FORBIDDEN'
    case 404:
      return 'NOT_FOUND'
    default:
      return 'REQUEST_REFUSED'
  }
}

interface Told {
  readonly status: number
  readonly messages: readonly string[]
}

function textOf(code: ClientErrorCode, { status, messages }: Told): string {
  if (code === 'ANSWER_UNEXPECTED') {
    return `the answer with status ${status} is not the service's: check the address, and what is in between`
  }
  // Without words it may be that of a proxy.
  if (messages.length === 0) return `the answer has status ${status}`
  return `the service answered ${status}: ${listed(messages)}`
}

/**
 * Reads an answer of JSON whole; `parse` is the compiled schema of the contract. A proxy may send a page of its own
 * with the status of a success.
 */
export function takeJson<T>(
  parse: (value: unknown) => { readonly ok: true; readonly value: T } | Faulty,
  bytesMax = jsonBytesMax
): (exchange: Exchange) => Promise<T> {
  return async (exchange) => {
    const type = exchange.header('content-type') ?? ''
    if (!/^application\/json\b/i.test(type)) {
      throw new ClientError('ANSWER_UNEXPECTED', 'the answer is not JSON')
    }
    const text = await exchange.readText(bytesMax)
    exchange.close()
    const json = parseJson(text)
    // fetch takes the end of a connection that was to be closed for the end of its answer, so an answer
    // that was cut can look whole; cut JSON never parses.
    if (json === undefined) throw new ClientError('ANSWER_BROKEN', 'the answer is not whole JSON')
    const parsed = parse(json)
    if (parsed.ok) return parsed.value
    throw new ClientError(
      'ANSWER_UNEXPECTED',
      `the answer is not as the interface has it: ${listed(parsed.messages)}`,
      { messages: parsed.messages }
    )
  }
}

interface Faulty {
  readonly ok: false
  readonly messages: readonly string[]
}

/** Undefined, which is not a JSON value, if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // JSON.parse has one way to fail.
    return undefined
  }
}
