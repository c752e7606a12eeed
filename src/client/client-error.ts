// The closed list of what a call can fail with. No error ever holds the key.
import { setMaxListeners } from 'node:events'
import type { RefusalCode } from '../contract/refusal-codes.ts'
import { findUnknownFields } from '../lib/unknown-fields.ts'

interface ErrorKind {
  /** Whether the same call may go well later. */
  readonly isRetryable: boolean
}

export const clientErrorKinds = {
  /** The options of the client break a rule; `messages` says which. */
  OPTIONS_INVALID: { isRetryable: false },
  /** The request breaks a rule of the interface and was not sent; `messages` says which. */
  REQUEST_INVALID: { isRetryable: false },
  /** More calls wait already than the client was told to hold; nothing was sent. */
  QUEUE_FULL: { isRetryable: true },
  /** The caller's signal aborted the call; `cause` is its reason. */
  ABORTED: { isRetryable: false },
  /** The service could not be reached, or the connection broke before an answer. */
  NETWORK_FAILED: { isRetryable: true },
  /** No answer, or no further part of it, within the time that was allowed. */
  TIMED_OUT: { isRetryable: true },
  /** The service's 401: the key is missing, unknown, expired or revoked. */
  KEY_REFUSED: { isRetryable: false },
  /** The service's 403: the key lacks the scope or the advertiser. */
  ACCESS_FORBIDDEN: { isRetryable: false },
  /** The service's 404: something that the request names does not exist. */
  NOT_FOUND: { isRetryable: false },
  /** 400, 413, 422 and the like: the service refused the request; `messages` says why. */
  REQUEST_REFUSED: { isRetryable: false },
  /** 429. */
  RATE_LIMITED: { isRetryable: true },
  /** 5xx, 408 or 425: the same request may be taken later. */
  SERVICE_FAILED: { isRetryable: true },
  /** The answer broke off: whatever of it was read is not whole. */
  ANSWER_BROKEN: { isRetryable: true },
  /** The server that answers does not speak this interface: another one, or a proxy that answers for the service. */
  ANSWER_UNEXPECTED: { isRetryable: false },
  /** A later page was cut from another result than the first: read the report again from its start. */
  REPORT_CHANGED: { isRetryable: true },
  /** The report has more rows than its pages can hold; nothing was read. */
  REPORT_TOO_LONG: { isRetryable: false },
} as const satisfies Record<string, ErrorKind>

export type ClientErrorCode = keyof typeof clientErrorKinds

export interface ClientErrorDetails {
  readonly status?: number
  readonly refusalCode?: RefusalCode | null
  readonly messages?: readonly string[]
  readonly retryAfterMs?: number | null
  readonly attemptCount?: number
  readonly isRetryable?: boolean
  readonly cause?: unknown
}

/** Every failure of a client. Decide by `code`, which is from a closed list, never by the text. */
export class ClientError extends Error {
  readonly code: ClientErrorCode
  /** The status of the answer; null without an answer. */
  readonly status: number | null
  /** Why the service refused the request; null without a refusal, or for a code that this version does not know. */
  readonly refusalCode: RefusalCode | null
  /** The faults, one sentence each, with the place in the request; from the check or the service. */
  readonly messages: readonly string[]
  /** Whether the same call may go well later and does no harm when made again. */
  readonly isRetryable: boolean
  /** How long the service asked to wait, if it did. */
  readonly retryAfterMs: number | null
  /** Requests that were sent; 0 when nothing left the process. */
  readonly attemptCount: number

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = 'ClientError'
    this.code = code
    this.status = details.status ?? null
    this.refusalCode = details.refusalCode ?? null
    this.messages = details.messages ?? []
    this.isRetryable = details.isRetryable ?? clientErrorKinds[code].isRetryable
    this.retryAfterMs = details.retryAfterMs ?? null
    this.attemptCount = details.attemptCount ?? 0
  }
}

/** The same error with other details. */
export function withDetails(
  error: ClientError,
  changes: Pick<ClientErrorDetails, 'attemptCount' | 'isRetryable' | 'status'>
): ClientError {
  const { status, refusalCode, messages, isRetryable, retryAfterMs, attemptCount, cause } = error
  return new ClientError(error.code, error.message, {
    ...(status !== null && { status }),
    ...(cause !== undefined && { cause }),
    refusalCode,
    messages,
    isRetryable,
    retryAfterMs,
    attemptCount,
    ...changes,
  })
}

export function invalid(
  code: 'OPTIONS_INVALID' | 'REQUEST_INVALID',
  messages: readonly string[]
): ClientError {
  const what = code === 'OPTIONS_INVALID' ? 'the options are not valid' : 'the request is not valid'
  return new ClientError(code, `${what}: ${listed(messages)}`, { messages })
}

export function aborted(signal: AbortSignal): ClientError {
  return new ClientError('ABORTED', 'the call was aborted by its caller', { cause: signal.reason })
}

/** One signal may end thousands of calls, for which Node would warn of a leak from the eleventh on. */
export function expectSharing(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal)
}

/** The options of one call. Callers may write JavaScript, where a misspelt one would be ignored. */
export function expectOptions<T extends object>(options: T, known: readonly string[]): T {
  const signal: unknown = Reflect.get(options, 'signal')
  const isSignal = signal === undefined || signal instanceof AbortSignal
  const messages = [
    ...findUnknownFields(options, new Set(['signal', ...known])).map(
      ({ name, rule }) => `/options/${name} ${rule}`
    ),
    ...(isSignal ? [] : ['/options/signal must be an AbortSignal']),
  ]
  if (messages.length === 0) return options
  throw invalid('REQUEST_INVALID', messages)
}

const listedMax = 5

/** For the text of an error; `messages` holds all of them. */
export function listed(messages: readonly string[]): string {
  const shown = messages.slice(0, listedMax).join('; ')
  const rest = messages.length - listedMax
  return rest > 0 ? `${shown}; and ${rest} more` : shown
}
