// Judges a page of deliveries of purchases or of returns by a pinned policy: what is to be written, and what
// it comes to.

import { judgeDelivery } from '../../access/delivery-verdict.ts'
import type { KeyById } from '../../access/delivery-verdict.ts'
import { voidVerdict } from '../../warehouse/effective-verdict.ts'
import { backfilled, liveFrom } from '../../spool/record.ts'
import type { Origin } from '../../spool/record.ts'
import type { JudgedDelivery } from '../apply-judgements.ts'
import type { StoredJudgement } from './judgement-requests.ts'
import { addAmounts, noCounts } from './tally.ts'
import type { Amount, Counts, Tally } from './tally.ts'

/** A delivery with what is stored of how it came, and its latest judgement. */
export interface PageRow {
  readonly purchaseKey: string
  readonly deliveryId: string
  readonly receivedAtMs: number
  readonly stored: string
  readonly origin: 'unknown' | 'live' | 'backfill'
  readonly keyId: string
  readonly address: string
  /** '' for a return. */
  readonly currency: string
  readonly value: string
  /** '' where it was never judged. */
  readonly judged: string
  readonly judgementId: string
  readonly judgedAt: string
}

export interface PageContext {
  readonly judgement: StoredJudgement
  /** Whether what was received then belongs to a final day. */
  readonly isFinal: (receivedAtMs: number) => boolean
  /** The UTC day of the deliveries; null for returns. */
  readonly day: string | null
  readonly nowMs: number
}

export interface JudgedPage {
  /** What is to be written now. */
  readonly changes: readonly JudgedDelivery[]
  /** What this judgement wrote before. */
  readonly own: readonly JudgedDelivery[]
  readonly tally: Omit<Tally, 'lostCredit'>
}

const dayMs = 86_400_000

/** How long addresses are kept (docs/privacy.md), from the beginning of the day of receipt. */
const addressKeptMs = 90 * dayMs

export function judgePage(rows: readonly PageRow[], context: PageContext): JudgedPage {
  const keyById = keysOf(context.judgement)
  const [changes, own]: [JudgedDelivery[], JudgedDelivery[]] = [[], []]
  const counts: { -readonly [Name in keyof Counts]: number } = { ...noCounts }
  const gained: Amount[] = []
  for (const row of rows) {
    counts.looked += 1
    const found = judgeRow(row, context, keyById)
    if (found.kind === 'stays') continue
    counts[found.kind] += 1
    if (found.isOfFinalDay && found.kind === 'lost') counts.final += 1
    if (found.judged === null) continue
    if (found.isOwn) own.push(found.judged)
    else changes.push(found.judged)
    if (found.kind === 'gained' && row.currency !== '') {
      gained.push({ currency: row.currency, count: 1, units: 0, value: row.value })
    }
  }
  return {
    changes,
    own,
    tally: { counts, changed: changes.length, gainedValue: addAmounts(gained) },
  }
}

interface Found {
  readonly kind: 'stays' | Exclude<keyof Counts, 'looked'>
  readonly judged: JudgedDelivery | null
  readonly isOwn: boolean
  readonly isOfFinalDay: boolean
}

function judgeRow(row: PageRow, context: PageContext, keyById: KeyById): Found {
  const { judgement, isFinal, day } = context
  const { id, publisherId, requestedAt, pinned } = judgement
  const isOfFinalDay = isFinal(row.receivedAtMs)
  const found = (kind: Found['kind'], verdict: string | null = null): Found => {
    const { purchaseKey, deliveryId } = row
    const isAccepted = kind === 'gained' && day !== null
    const accepted = isAccepted ? { accepted: { day, publisherId } } : {}
    const judged = verdict === null ? null : { purchaseKey, deliveryId, verdict, ...accepted }
    return { kind, judged, isOwn: row.judgementId === id, isOfFinalDay }
  }
  if (row.stored === 'too-late') return found('stays')
  if (row.judged === voidVerdict) return found('voids')
  // Whoever judged it later decides, and of one instant the greater id, as the table does.
  const isLater = row.judgedAt === requestedAt ? row.judgementId > id : row.judgedAt > requestedAt
  if (isLater) return found('stays')
  const origin = originOf(row, context)
  if (origin === null) return found('unknown')

  const facts = { publisherId, receivedAtMs: row.receivedAtMs, origin, keyId: row.keyId || null }
  const verdict = judgeDelivery(facts, pinned.policy, keyById)
  const before = beforeOf(row, { id, verdict })
  if (verdict === before) return found('stays')
  if (verdict !== 'valid') return found(before === 'valid' ? 'lost' : 'otherReason', verdict)
  return isOfFinalDay ? found('final') : found('gained', verdict)
}

/**
 * The verdict that counted before this judgement. Where it has written its own already, the one before is the
 * stored one, or another judgement that said the opposite: else there would have been nothing to write.
 */
function beforeOf(row: PageRow, own: { readonly id: string; readonly verdict: string }): string {
  if (row.judgementId !== own.id) return row.judged === '' ? row.stored : row.judged
  if (row.stored !== own.verdict) return row.stored
  return own.verdict === 'valid' ? 'unauthenticated' : 'valid'
}

/** The warehouse drops addresses by day: at midnight UTC, up to a day before they are as old as that. */
export function forgottenFromMs(receivedAtMs: number): number {
  return Math.floor(receivedAtMs / dayMs) * dayMs + addressKeptMs
}

/** Null where it is not known how the delivery came, and nothing is assumed. */
function originOf(row: PageRow, { judgement, nowMs }: PageContext): Origin | null {
  if (row.origin === 'backfill') return backfilled
  const isForgotten =
    row.address === '' &&
    judgement.pinned.policy.sources.length > 0 &&
    nowMs >= forgottenFromMs(row.receivedAtMs)
  if (row.origin === 'live' && !isForgotten) {
    return liveFrom(row.address === '' ? null : row.address)
  }
  if (judgement.assume === null) return null
  return judgement.assume === 'backfill' ? backfilled : liveFrom(null)
}

function keysOf({ pinned }: StoredJudgement): KeyById {
  const keys = new Map(pinned.keys.map((key) => [key.id, key]))
  return (id) => keys.get(id) ?? null
}
