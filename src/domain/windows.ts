// All spans of time that decide about money. They are elapsed milliseconds, both ends included, not
// calendar days: credit must not depend on the hour of the click or on a clock change.

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** A page is seen within the day it was served; older links come from caches, archives and replays. */
export const viewCountableMs = dayMs

/** A served page may stay open, or in a mailbox, for a week. A later click is not due to the ad. */
export const clickCountableMs = 7 * dayMs

/**
 * A click redirects to its page for this long, also from old mails. But no link stays a redirect under the
 * platform's name forever.
 */
export const clickLeadsMs = clickCountableMs + 28 * dayMs

/** The clock of whoever notes an instant may be ahead of ours: monitored clocks differ by seconds, 5 minutes is ample. */
export const earlyToleranceMs = 5 * minuteMs

/** The `CLK_14_DAYS` of the contract's attribution profiles. */
export const attributionClickMs = 14 * dayMs

/** The `IMP_1_DAY` of the contract's attribution profiles. */
export const attributionViewMs = dayMs

/** One person does not see 333 ads a day for 15 days; an id with more touchpoints is a shared one. */
export const crowdTouchpointsMax = 5_000

/** The click window and one day more, so that every touchpoint that could win is among those counted. */
export const crowdWindowMs = 15 * dayMs

/** The instants at which an event may be received, as for minting. No table has a day outside them. */
const receiptMsMin = Date.UTC(2020, 0, 1)
const receiptMsMax = Date.UTC(2100, 0, 1)

/** False for an instant that only a clock that was never set can show. */
export function isReceiptInstant(ms: number): boolean {
  return ms >= receiptMsMin && ms <= receiptMsMax
}

export type AdEventKind = 'load' | 'impression' | 'click'
export type EventVerdict = 'counted' | 'expired' | 'early'

/** The limit holds in both directions: a link dated ahead must not last longer. */
export function leadsToLandingPage(servedAtMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - servedAtMs) <= clickLeadsMs
}

/** Whether an event counts by its age alone. Both instants are milliseconds; both bounds still count. */
export function eventVerdict(
  kind: AdEventKind,
  servedAtMs: number,
  receivedAtMs: number
): EventVerdict {
  const ageMs = receivedAtMs - servedAtMs
  if (ageMs < -earlyToleranceMs) return 'early'
  return ageMs > (kind === 'click' ? clickCountableMs : viewCountableMs) ? 'expired' : 'counted'
}
