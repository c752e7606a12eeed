// One sentence for each code of a refusal, as the service words it.
import type { RefusalCode } from '../refusal-codes.ts'

type DocumentedCode = Exclude<RefusalCode, 'PATH_UNKNOWN'>

/** A path that is unknown is that of no operation. */
export const refusalExamples: Readonly<Record<DocumentedCode, string>> = {
  HTTP_MALFORMED: 'The request is not valid HTTP.',
  PATH_MALFORMED: 'The path has a broken percent escape.',
  TRACKING_DATA_INVALID:
    'The tracking data is not the string that the ad server issued, or was manipulated.',
  DELIVERY_INVALID: '/transaction_id is required',
  DELIVERY_ENCODING_INVALID: 'content-encoding must be gzip or identity',
  DELIVERY_FROM_BROWSER:
    'Conversions must be sent by the backend of the publisher, not by a browser.',
  KEY_MISSING: 'A key is required: Authorization: Bearer <key>.',
  KEY_MALFORMED: 'The Authorization header must be of the form: Bearer <key>.',
  KEY_INVALID: 'The key is not valid.',
  SIGN_ON_REFUSED: 'The header of the sign-on is taken from the address of its proxy only.',
  PERSON_CHANGED: 'Somebody else is signed in than the page says.',
  SCOPE_MISSING: 'The key does not have the scope report:read.',
  PARTY_FORBIDDEN: 'The key is not for this advertiser.',
  PERSON_UNKNOWN:
    'You are signed in as anna@example.com, who has no access: ask your operator to give anna@example.com access.',
  CROSS_SITE_REFUSED:
    'A call without a key needs the header shelftrace-page, which other sites cannot send.',
  TRACKING_DATA_MISSING: 'The tracking data is missing from the path.',
  RESOURCE_UNKNOWN: 'There is no such advertiser.',
  METHOD_NOT_ALLOWED: 'The path does not take this method.',
  REQUEST_TOO_SLOW: 'The request did not arrive in time.',
  BACKUP_RUNNING: 'Another backup is running; one at a time.',
  BACKUP_NAME_TAKEN: '/name must be new: there is a folder of that name',
  BACKUP_IMPOSSIBLE:
    'The warehouse is a ClickHouse server: back it up by its own means, as the operator guide says.',
  BODY_TOO_LARGE: 'body must have at most 1048576 bytes',
  PATH_TOO_LONG: 'The path is too long.',
  EXPECTATION_UNMET: 'Only 100-continue may be expected.',
  REQUEST_INVALID: '/dateBreakdwon is not known here; did you mean dateBreakdown?',
  DAYS_FINAL:
    '/startDate must not be before 2025-04-01: older days are final, their events are dropped',
  KEY_RATE_EXCEEDED: 'A key may send 600 requests a minute.',
  ADDRESS_RATE_EXCEEDED: 'Too many requests without a valid key came from this address.',
  KEY_BODIES_EXCEEDED: 'The key sends too much at once; try again in a moment.',
  KEY_ANSWERS_EXCEEDED: 'The key has too many answers under way that are read too slowly.',
  KEY_REPORTS_EXCEEDED: 'The key has too many reports running at once; try again in a moment.',
  OPEN_REQUESTS_EXCEEDED: 'at most 100 judgements may be open',
  HEADERS_TOO_LARGE: 'The request line and headers must be at most 32 KiB.',
  SERVICE_FAILED: 'The service failed to answer; the failure is logged.',
  SERVICE_STOPPING: 'The service is stopping; try again in a moment.',
  SERVICE_NOT_READY: 'The service does not take traffic right now.',
  SERVICE_BUSY: 'Too much is being sent at once; try again in a moment.',
  REPORTS_BUSY: 'Too many reports are running at once; try again in a moment.',
  EVENT_NOT_STORED: 'The service cannot store events right now; try again later.',
  WAREHOUSE_UNAVAILABLE: 'The warehouse cannot be reached right now; try again later.',
  REPORT_STORE_FULL:
    'The service has no room for a result of several pages right now; try again later, or ask for fewer rows.',
  REPORT_OVERTAKEN: 'The figures were replaced while they were read; try again.',
  KEYS_UNAVAILABLE: 'Keys cannot be checked right now; try again later.',
}
