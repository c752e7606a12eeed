// The closed catalogue of failures. Expected outcomes (a repeat, a late event) are values instead.
// `publicText` is all a caller outside ever reads; message, details and cause are for operators.

import type { RefusalCode } from './contract/refusal-codes.ts'

interface ErrorKind {
  readonly status: number
  /** What callers are told. */
  readonly refusal: RefusalCode
  readonly retryable: boolean
  readonly level: 'info' | 'warn' | 'error' | 'fatal'
  readonly publicText: string
}

export const errorKinds = {
  CONFIG_INVALID: fault('fatal', 'The configuration is not valid.'),
  PORT_TAKEN: fault('fatal', 'A port cannot be listened on.'),
  SPOOL_FULL: retryable(
    'EVENT_NOT_STORED',
    'error',
    'The service cannot store events right now; try again later.'
  ),
  SPOOL_UNAVAILABLE: retryable(
    'EVENT_NOT_STORED',
    'error',
    'The service cannot store events right now; try again later.'
  ),
  CLOCK_UNSET: retryable(
    'EVENT_NOT_STORED',
    'error',
    'The service cannot store events right now; try again later.'
  ),
  WAREHOUSE_UNAVAILABLE: retryable(
    'WAREHOUSE_UNAVAILABLE',
    'error',
    'The warehouse cannot be reached right now; try again later.'
  ),
  WAREHOUSE_REFUSED: fault('error', 'The service failed to answer; the failure is logged.'),
  WAREHOUSE_NOT_OPENED: fault('fatal', 'The warehouse cannot be opened.'),
  REPORT_STORE_FULL: retryable(
    'REPORT_STORE_FULL',
    'error',
    'The service has no room for a result of several pages right now; try again later, or ask for fewer rows.'
  ),
  REPORT_OVERTAKEN: retryable(
    'REPORT_OVERTAKEN',
    'warn',
    'The figures were replaced while they were read; try again.'
  ),
  BACKUP_INVALID: fault('fatal', 'The backup cannot be restored.'),
  ACCESS_STALE: retryable(
    'KEYS_UNAVAILABLE',
    'error',
    'Keys cannot be checked right now; try again later.'
  ),
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorKinds

interface ServiceErrorOptions {
  readonly cause?: unknown
  readonly details?: Readonly<Record<string, unknown>>
}

/** A failure from the catalogue above; docs/errors.md says what an operator does about each. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.details = options.details ?? {}
  }

  get kind(): ErrorKind {
    return errorKinds[this.code]
  }
}

/** Callers learn nothing of it. */
function fault(level: ErrorKind['level'], publicText: string): ErrorKind {
  return { status: 500, refusal: 'SERVICE_FAILED', retryable: false, level, publicText }
}

function retryable(refusal: RefusalCode, level: ErrorKind['level'], publicText: string): ErrorKind {
  return { status: 503, refusal, retryable: true, level, publicText }
}
