// What the service says in English, for readers of other languages: by its stable words, never by its sentences.
import type { RefusalCode } from '../../src/contract/refusal-codes.ts'
import { isEnglish, t } from './language.ts'

const invalid = t('The service cannot read what was sent.')
const badKey = t('The key is not valid: unknown, expired or revoked.')
const unknown = t('There is no such thing here.')
const busy = t('The service is busy. Try again in a moment.')
const tooMany = t('Too many requests came at once. Try again in a moment.')
const tooLarge = t('What was sent is too large.')
const notReady = t('The service is starting or stopping. Try again in a moment.')

export const refusalWords: Readonly<Record<RefusalCode, string>> = {
  HTTP_MALFORMED: invalid,
  PATH_MALFORMED: invalid,
  TRACKING_DATA_INVALID: t('The tracking data is not from this installation, or was changed.'),
  DELIVERY_INVALID: invalid,
  DELIVERY_ENCODING_INVALID: invalid,
  DELIVERY_FROM_BROWSER: t('Only the backend of the publisher may deliver it.'),
  KEY_MISSING: badKey,
  KEY_MALFORMED: badKey,
  KEY_INVALID: badKey,
  SIGN_ON_REFUSED: t(
    'The sign-on does not count here: it came another way than through its proxy.'
  ),
  PERSON_CHANGED: t('Somebody else has signed in in this browser, so this page has stopped.'),
  SCOPE_MISSING: t('The key does not have the scope for this.'),
  PERSON_UNKNOWN: t('You are signed in, and have no access. The service says in English:'),
  CROSS_SITE_REFUSED: t('The call did not come from this dashboard.'),
  PARTY_FORBIDDEN: t('The key is not for this advertiser or publisher.'),
  PATH_UNKNOWN: unknown,
  TRACKING_DATA_MISSING: unknown,
  RESOURCE_UNKNOWN: unknown,
  METHOD_NOT_ALLOWED: unknown,
  REQUEST_TOO_SLOW: t('The request did not arrive in time. Try again.'),
  BACKUP_RUNNING: t('Another backup is running.'),
  BACKUP_NAME_TAKEN: t('There is a backup of this name.'),
  BACKUP_IMPOSSIBLE: t('This node cannot make backups.'),
  BODY_TOO_LARGE: tooLarge,
  PATH_TOO_LONG: tooLarge,
  EXPECTATION_UNMET: invalid,
  REQUEST_INVALID: t('What was entered breaks a rule. The service says in English:'),
  DAYS_FINAL: t('These days are final: their events have been dropped.'),
  KEY_RATE_EXCEEDED: tooMany,
  ADDRESS_RATE_EXCEEDED: tooMany,
  KEY_BODIES_EXCEEDED: tooMany,
  KEY_ANSWERS_EXCEEDED: tooMany,
  KEY_REPORTS_EXCEEDED: tooMany,
  OPEN_REQUESTS_EXCEEDED: tooMany,
  HEADERS_TOO_LARGE: tooLarge,
  SERVICE_FAILED: t('The service has failed. Its log says why.'),
  SERVICE_STOPPING: notReady,
  SERVICE_NOT_READY: notReady,
  SERVICE_BUSY: busy,
  REPORTS_BUSY: busy,
  EVENT_NOT_STORED: busy,
  WAREHOUSE_UNAVAILABLE: t('The warehouse does not answer. Try again in a moment.'),
  REPORT_STORE_FULL: t('There is no room for so many rows. Choose fewer days or set a filter.'),
  REPORT_OVERTAKEN: t('The figures were replaced while they were read. Try again.'),
  KEYS_UNAVAILABLE: t('Keys cannot be checked right now. Try again in a moment.'),
}

/** For these the sentences say more: what to mend, and whom to ask for. */
const explained: ReadonlySet<string | null> = new Set(['REQUEST_INVALID', 'PERSON_UNKNOWN'])

/** What the service says of a refusal, in the language of the reader where that is known. */
export function messagesOfRefusal(
  code: string | null,
  messages: readonly string[]
): readonly string[] {
  const words = new Map<string, string>(Object.entries(refusalWords)).get(code ?? '')
  if (isEnglish() || words === undefined) return messages
  return explained.has(code) ? [words, ...messages] : [words]
}

/** By the rules of docs/alerts.yaml. */
export const alertWords: Readonly<Record<string, string>> = {
  ShelftraceDown: t('The campaign port does not answer.'),
  ShelftraceSpoolLag: t('The oldest waiting event is more than a minute old; reports are behind.'),
  ShelftraceSpoolFills: t(
    'The spool has reached half of its default bound; at the bound events are refused.'
  ),
  ShelftraceStepFails: t('A step of the pipeline keeps failing.'),
  ShelftraceEngineRestarts: t('The engine process keeps dying and being restarted.'),
  ShelftraceClockOffset: t(
    'The clock of the node differs from that of the warehouse by more than a second.'
  ),
  ShelftraceTrackerSilent: t('No tracker of this node is alive; it takes no events.'),
  ShelftraceNodeSilent: t(
    'A node is gone, events may wait in its spool, and no day is sealed without it for six hours.'
  ),
  ShelftraceEventsRefused: t('Events are answered with 503; senders must repeat them.'),
  ShelftraceRequestsInvalid: t('More than 5 % of the requests are refused as invalid.'),
  ShelftraceTrackingSlow: t('One in a hundred events waits longer than 250 ms for its answer.'),
  ShelftraceReportsSlow: t('One in twenty reports takes longer than 10 s.'),
  ShelftraceAttributionLag: t('Purchases wait more than five minutes to be attributed.'),
  ShelftraceDaysUnsealed: t(
    'More than two days that are over are not sealed; their reports are slower and no events are dropped.'
  ),
  ShelftraceSetAside: t('Events or purchases could not be processed and were set aside.'),
  ShelftraceNotBelieved: t('Purchases or returns of a publisher are not believed.'),
  ShelftraceBackupOld: t('There is no complete backup from the last 26 hours.'),
}

/** The service's own sentence is the more exact one: it names the publisher or the route. */
export function summaryOf({ name, summary }: { readonly name: string; readonly summary: string }) {
  const words = Object.hasOwn(alertWords, name) ? alertWords[name] : undefined
  return isEnglish() ? summary : (words ?? summary)
}
