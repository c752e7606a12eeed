// The closed list of the reasons for which the service refuses a request. Programs decide by these words,
// so a word never changes its meaning or its status and is never removed; new ones may be added. Each is
// described in docs/errors.md.

/** The header of every refusal. The interface fixes the shape of the body, so the code stands beside it. */
export const errorCodeHeader = 'shelftrace-error-code'

interface RefusalKind {
  readonly status: number
  /** Whether the same request may go well later. */
  readonly isRetryable: boolean
}

export const refusalKinds = {
  HTTP_MALFORMED: final(400),
  PATH_MALFORMED: final(400),
  TRACKING_DATA_INVALID: final(400),
  DELIVERY_INVALID: final(400),
  DELIVERY_ENCODING_INVALID: final(400),
  DELIVERY_FROM_BROWSER: final(400),
  KEY_MISSING: final(401),
  KEY_MALFORMED: final(401),
  KEY_INVALID: final(401),
  SIGN_ON_REFUSED: final(401),
  PERSON_CHANGED: final(401),
  SCOPE_MISSING: final(403),
  PARTY_FORBIDDEN: final(403),
  PERSON_UNKNOWN: final(403),
  CROSS_SITE_REFUSED: final(403),
  PATH_UNKNOWN: final(404),
  TRACKING_DATA_MISSING: final(404),
  RESOURCE_UNKNOWN: final(404),
  METHOD_NOT_ALLOWED: final(405),
  REQUEST_TOO_SLOW: retryable(408),
  BACKUP_RUNNING: retryable(409),
  BACKUP_NAME_TAKEN: final(409),
  BACKUP_IMPOSSIBLE: final(409),
  BODY_TOO_LARGE: final(413),
  PATH_TOO_LONG: final(414),
  EXPECTATION_UNMET: final(417),
  REQUEST_INVALID: final(422),
  DAYS_FINAL: final(422),
  KEY_RATE_EXCEEDED: retryable(429),
  ADDRESS_RATE_EXCEEDED: retryable(429),
  KEY_BODIES_EXCEEDED: retryable(429),
  KEY_ANSWERS_EXCEEDED: retryable(429),
  KEY_REPORTS_EXCEEDED: retryable(429),
  OPEN_REQUESTS_EXCEEDED: retryable(429),
  HEADERS_TOO_LARGE: final(431),
  SERVICE_FAILED: final(500),
  SERVICE_STOPPING: retryable(503),
  SERVICE_NOT_READY: retryable(503),
  SERVICE_BUSY: retryable(503),
  REPORTS_BUSY: retryable(503),
  EVENT_NOT_STORED: retryable(503),
  WAREHOUSE_UNAVAILABLE: retryable(503),
  REPORT_STORE_FULL: retryable(503),
  REPORT_OVERTAKEN: retryable(503),
  KEYS_UNAVAILABLE: retryable(503),
} as const satisfies Record<string, RefusalKind>

export type RefusalCode = keyof typeof refusalKinds

export function isRefusalCode(text: string): text is RefusalCode {
  return Object.hasOwn(refusalKinds, text)
}

function final<const Status extends number>(status: Status) {
  return { status, isRetryable: false } as const
}

function retryable<const Status extends number>(status: Status) {
  return { status, isRetryable: true } as const
}
