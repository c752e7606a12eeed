// The closed catalogue of failures. Expected outcomes (a repeat, a late event) are values instead.
// `publicText` is all a caller outside ever reads; message, details and cause are for operators.

interface ErrorKind {
  readonly status: number
  readonly retryable: boolean
  readonly level: 'info' | 'warn' | 'error' | 'fatal'
  readonly publicText: string
}

export const errorKinds = {
  CONFIG_INVALID: kind(500, 'fatal', 'The configuration is not valid.'),
  PORT_TAKEN: kind(500, 'fatal', 'A port cannot be listened on.'),
  SPOOL_FULL: retryable(
    503,
    'error',
    'The service cannot store events right now; try again later.'
  ),
  SPOOL_UNAVAILABLE: retryable(
    503,
    'error',
    'The service cannot store events right now; try again later.'
  ),
  CLOCK_UNSET: retryable(
    503,
    'error',
    'The service cannot store events right now; try again later.'
  ),
  WAREHOUSE_UNAVAILABLE: retryable(
    503,
    'error',
    'The warehouse cannot be reached right now; try again later.'
  ),
  WAREHOUSE_REFUSED: kind(500, 'error', 'The service failed to answer; the failure is logged.'),
  WAREHOUSE_LOCKED: kind(500, 'fatal', 'The data folder is in use by another process.'),
  REPORT_STORE_FULL: retryable(
    503,
    'error',
    'The service has no room for a result of several pages right now; try again later, or ask for fewer rows.'
  ),
  REPORT_OVERTAKEN: retryable(
    503,
    'warn',
    'The figures were replaced while they were read; try again.'
  ),
  BACKUP_INVALID: kind(500, 'fatal', 'The backup cannot be restored.'),
  ACCESS_STALE: retryable(503, 'error', 'Keys cannot be checked right now; try again later.'),
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

function kind(status: number, level: ErrorKind['level'], publicText: string): ErrorKind {
  return { status, retryable: false, level, publicText }
}

function retryable(status: number, level: ErrorKind['level'], publicText: string): ErrorKind {
  return { status, retryable: true, level, publicText }
}
