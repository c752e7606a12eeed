// Programs decide by the codes of refusals. The list below is written by hand: who changes the meaning of a
// code, or removes one, has to change it here and knows that it breaks callers.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { refusalKinds } from '../../src/contract/refusal-codes.ts'
import { errorKinds } from '../../src/errors.ts'

const released: Readonly<Record<string, number>> = {
  HTTP_MALFORMED: 400,
  PATH_MALFORMED: 400,
  TRACKING_DATA_INVALID: 400,
  DELIVERY_INVALID: 400,
  DELIVERY_ENCODING_INVALID: 400,
  DELIVERY_FROM_BROWSER: 400,
  KEY_MISSING: 401,
  KEY_MALFORMED: 401,
  KEY_INVALID: 401,
  SIGN_ON_REFUSED: 401,
  PERSON_CHANGED: 401,
  SCOPE_MISSING: 403,
  PARTY_FORBIDDEN: 403,
  PERSON_UNKNOWN: 403,
  CROSS_SITE_REFUSED: 403,
  PATH_UNKNOWN: 404,
  TRACKING_DATA_MISSING: 404,
  RESOURCE_UNKNOWN: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TOO_SLOW: 408,
  BACKUP_RUNNING: 409,
  BACKUP_NAME_TAKEN: 409,
  BACKUP_IMPOSSIBLE: 409,
  BODY_TOO_LARGE: 413,
  PATH_TOO_LONG: 414,
  EXPECTATION_UNMET: 417,
  REQUEST_INVALID: 422,
  DAYS_FINAL: 422,
  KEY_RATE_EXCEEDED: 429,
  ADDRESS_RATE_EXCEEDED: 429,
  KEY_BODIES_EXCEEDED: 429,
  KEY_ANSWERS_EXCEEDED: 429,
  KEY_REPORTS_EXCEEDED: 429,
  OPEN_REQUESTS_EXCEEDED: 429,
  HEADERS_TOO_LARGE: 431,
  SERVICE_FAILED: 500,
  SERVICE_STOPPING: 503,
  SERVICE_NOT_READY: 503,
  SERVICE_BUSY: 503,
  REPORTS_BUSY: 503,
  EVENT_NOT_STORED: 503,
  WAREHOUSE_UNAVAILABLE: 503,
  REPORT_STORE_FULL: 503,
  REPORT_OVERTAKEN: 503,
  KEYS_UNAVAILABLE: 503,
}

test('no code was removed or moved to another status', () => {
  const statuses = Object.entries(refusalKinds).map(([code, { status }]) => [code, status])
  assert.deepEqual(Object.fromEntries(statuses), released)
})

test('every code is described with its status, and whether to repeat the request; no other is', () => {
  const rows = [...readFileSync('docs/errors.md', 'utf8').matchAll(rowPattern)].map(
    ([, code, status, retry]) => [code, `${status} ${retry}`]
  )
  const expected = Object.entries(refusalKinds).map(([code, { status, isRetryable }]) => [
    code,
    `${status} ${isRetryable ? 'yes' : 'no'}`,
  ])

  assert.deepEqual(rows, expected)
})

/** Rows that have a status of a refusal; the failures of the log have a column more. */
const rowPattern = /^\| `([A-Z_]+)` +\| ([45]\d\d) +\| (yes|no) +\| [^|]+ \|$/gmu

test('a failure is told to callers as retryable exactly if it is', () => {
  for (const [code, { refusal, retryable, status }] of Object.entries(errorKinds)) {
    assert.equal(refusalKinds[refusal].isRetryable, retryable, code)
    assert.equal(refusalKinds[refusal].status, status, code)
  }
})
