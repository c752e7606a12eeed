import { isForAdvertiser } from '../../access/authenticate.ts'
import type { AccessKey } from '../../access/key.ts'
import { parseEventLine, type EventLine } from '../../contract/event-lines.ts'
import { parseJsonBody } from '../../contract/json.ts'
import { earlyToleranceMs, isReceiptInstant } from '../../domain/windows.ts'
import { backfilled, toConversionRecord, toReturnRecord } from '../../spool/record.ts'
import type { SpoolRecord } from '../../spool/record.ts'
import type { AdminDeps } from './deps.ts'
import { lineBytesMax, type Line } from './line-reader.ts'

export type LineResult =
  | { readonly ok: true; readonly record: SpoolRecord; readonly bytes: number }
  | { readonly ok: false; readonly messages: readonly string[] }

type RecordDeps = Pick<AdminDeps, 'openTrackingData' | 'hashIdentity' | 'clock'>

/** As much of a user agent as is kept of a live event. */
const userAgentLengthMax = 512

/** One line of a backfill as a record of the spool, held to the rules of live events. */
export function toRecord(line: Line, key: AccessKey, deps: RecordDeps): LineResult {
  if (line.bytes === null) return refused(`the line must have at most ${lineBytesMax} bytes`)
  const json = parseJsonBody(line.bytes)
  const parsed = json.ok ? parseEventLine(json.value) : json
  if (!parsed.ok) return { ok: false, messages: parsed.messages }

  const { receivedAtMs } = parsed.value
  if (!isReceiptInstant(receivedAtMs)) {
    return refused('/receivedAt must be from 2020-01-01 to 2100-01-01 UTC')
  }
  // A click would be charged before it happened, and a purchase would hold up erasures until its day.
  if (receivedAtMs > deps.clock() + earlyToleranceMs) {
    return refused('/receivedAt must not lie in the future')
  }
  const bytes = line.bytes.length
  // The operator vouches for what is loaded.
  const receipt = { receivedAtMs, origin: backfilled, presentedKey: 'none' }
  switch (parsed.value.type) {
    case 'conversion': {
      const { hashIdentity } = deps
      const record = toConversionRecord(parsed.value.conversion, { ...receipt, hashIdentity })
      return { ok: true, record, bytes }
    }
    case 'return':
      return { ok: true, record: toReturnRecord(parsed.value.return, receipt), bytes }
    case 'impression':
    case 'click':
    case 'load':
      return toAdEvent(parsed.value, { key, bytes, deps })
  }
}

interface Context {
  readonly key: AccessKey
  readonly bytes: number
  readonly deps: RecordDeps
}

function toAdEvent(
  line: Exclude<EventLine, { readonly type: 'conversion' | 'return' }>,
  { key, bytes, deps }: Context
): LineResult {
  const opened = deps.openTrackingData(line.trackingData)
  if (!opened.ok) {
    return refused('/trackingData must be the string that the ad server issued, unchanged')
  }
  if (!isForAdvertiser(key, opened.data.advertiserId)) {
    return refused('/trackingData is of an advertiser that the key is not for')
  }
  const record: SpoolRecord = {
    type: 'ad-event',
    kind: line.type,
    receivedAtMs: line.receivedAtMs,
    trackingData: opened.canonical,
    userAgent: cutText(line.userAgent ?? '', userAgentLengthMax),
    isPrefetch: false,
  }
  return { ok: true, record, bytes }
}

/** A surrogate pair that the cut would halve goes as a whole: half of one is no text. */
function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '')
}

function refused(message: string): LineResult {
  return { ok: false, messages: [message] }
}
