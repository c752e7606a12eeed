// Applies the rule of docs/attribution.md to a list of touchpoints: which of them earns a line, and why the
// others do not. It shares no code with the SQL that attributes, so that each checks the other.

import type { CreditRule, LossReason } from '../../contract/explanation.ts'
import type { AttributionProfile } from '../../contract/report-request.ts'
import type { IdentityKind } from '../../domain/identity.ts'
import { attributionClickMs, attributionViewMs } from '../../domain/windows.ts'

/** An ad that was touched. */
export interface TouchedAd {
  /** 32 lower-case hex digits: the order of the texts is that of the ids. */
  readonly servedAdId: string
  readonly touchedAtMs: number
  readonly marketId: number
  readonly advertiserId: number
  readonly campaignId: number
  readonly adGroupId: number
  /** The advertised product, as the ad spells it. */
  readonly gtin: string
}

/** A touchpoint under an id of the purchase, at its earliest receipt. */
export interface Touch extends TouchedAd {
  readonly kind: 'click' | 'impression'
  readonly siteId: number
  readonly gtinKey: string
  readonly groupId: string
  /** The logged-in identity of the touchpoint, '' without one. */
  readonly loginIdentity: string
  /** The ids of the purchase that it shares. */
  readonly sharedIds: readonly IdentityKind[]
}

export interface Shopper {
  readonly purchasedAtMs: number
  /** '' without one. */
  readonly loginIdentity: string
  /** Ids of the purchase with more touchpoints than a person makes: they are taken as absent. */
  readonly crowdIds: readonly IdentityKind[]
}

/** Only a valid line may be credited: it is in range and has a product. */
export interface JudgedLine {
  readonly gtinKey: string
  readonly groupId: string
  readonly verdict: 'valid' | 'out-of-range' | 'no-product'
}

/** The ad that earns a line. */
export interface Credit extends TouchedAd {
  readonly rule: CreditRule
}

export type Credits = Readonly<Record<AttributionProfile, Credit | null>>

export const noCredits: Credits = {
  CLK_14_DAYS: null,
  IMP_1_DAY: null,
  IMP_1_DAY_CLK_14_DAYS: null,
}

export type Outcome = 'won' | LossReason

export interface JudgedTouch {
  readonly touch: Touch
  /** Null where the touchpoint may not earn the line at all. */
  readonly rule: CreditRule | null
  readonly outcomes: Readonly<Record<AttributionProfile, Outcome>>
  /** By how much it lies outside of its window; 0 inside. */
  readonly outsideMs: number
}

export interface Judge {
  creditsOf(line: JudgedLine): Credits
  /** Judges every touchpoint, in the order given; none where the line may not be credited. */
  judge(line: JudgedLine): readonly JudgedTouch[]
}

/** Clicks count for 14 days and impressions for one; both ends belong to the window. */
const windowMs = { click: attributionClickMs, impression: attributionViewMs } as const

const kindsOf = {
  CLK_14_DAYS: ['click'],
  IMP_1_DAY: ['impression'],
  IMP_1_DAY_CLK_14_DAYS: ['click', 'impression'],
} as const satisfies Record<AttributionProfile, readonly Touch['kind'][]>

/** Judges the lines of one purchase. A touchpoint (served ad and kind) is in the list once. */
export function createJudge(shopper: Shopper, touches: readonly Touch[]): Judge {
  const able = touches.filter(
    (touch) => personFault(shopper, touch) === null && outsideMs(shopper, touch) === 0
  )
  const byProduct = groupBy(able, (touch) => touch.gtinKey)
  const clicksByGroup = groupBy(
    able.filter((touch) => touch.kind === 'click'),
    (touch) => touch.groupId
  )
  const creditsOf = (line: JudgedLine): Credits => {
    if (line.verdict !== 'valid') return noCredits
    const near = [
      ...(byProduct.get(line.gtinKey) ?? []),
      ...(clicksByGroup.get(line.groupId) ?? []),
    ].flatMap((touch) => {
      const rule = ruleOf(line, touch)
      return rule === null ? [] : [Object.assign({}, touch, { rule })]
    })
    const click = best(near.filter(({ kind }) => kind === 'click'))
    const view = best(near.filter(({ kind }) => kind === 'impression'))
    return { CLK_14_DAYS: click, IMP_1_DAY: view, IMP_1_DAY_CLK_14_DAYS: click ?? view }
  }
  return {
    creditsOf,
    judge(line) {
      if (line.verdict !== 'valid') return []
      const credits = creditsOf(line)
      return touches.map((touch) => judgeTouch({ shopper, line, credits }, touch))
    },
  }
}

interface Race {
  readonly shopper: Shopper
  readonly line: JudgedLine
  readonly credits: Credits
}

function judgeTouch({ shopper, line, credits }: Race, touch: Touch): JudgedTouch {
  const outside = outsideMs(shopper, touch)
  const rule = ruleOf(line, touch)
  const fault = faultOf({ person: personFault(shopper, touch), rule, outside })
  const outcome = (profile: AttributionProfile): Outcome => {
    if (!kindsOf[profile].some((kind) => kind === touch.kind)) return 'not-in-profile'
    const winner = credits[profile]
    // A touchpoint without a fault takes part, so there is a winner.
    return (
      fault ??
      (winner === null || rule === null ? 'other-product' : compare(winner, { ...touch, rule }))
    )
  }
  return {
    touch,
    rule: fault === null ? rule : null,
    outcomes: {
      CLK_14_DAYS: outcome('CLK_14_DAYS'),
      IMP_1_DAY: outcome('IMP_1_DAY'),
      IMP_1_DAY_CLK_14_DAYS: outcome('IMP_1_DAY_CLK_14_DAYS'),
    },
    outsideMs: outside,
  }
}

interface Faults {
  readonly person: LossReason | null
  readonly rule: CreditRule | null
  readonly outside: number
}

function faultOf({ person, rule, outside }: Faults): LossReason | null {
  if (person !== null) return person
  if (rule === null) return 'other-product'
  return outside > 0 ? 'outside-window' : null
}

/** Why the touchpoint is not one of the shopper's, or not one before the purchase. */
function personFault(shopper: Shopper, touch: Touch): LossReason | null {
  const { crowdIds, purchasedAtMs } = shopper
  if (touch.sharedIds.every((kind) => crowdIds.includes(kind))) return 'crowd-identity'
  const own = crowdIds.includes('login') ? '' : shopper.loginIdentity
  // Two people on one device stay two.
  if (own !== '' && touch.loginIdentity !== '' && own !== touch.loginIdentity) return 'other-login'
  return touch.touchedAtMs > purchasedAtMs ? 'after-purchase' : null
}

/** Groups count for clicks only, and an empty group matches nothing. */
function ruleOf(line: JudgedLine, touch: Touch): CreditRule | null {
  if (touch.gtinKey === line.gtinKey) return touch.kind === 'click' ? 'direct' : 'view'
  const isInGroup = touch.kind === 'click' && touch.groupId !== '' && touch.groupId === line.groupId
  return isInGroup ? 'in-group' : null
}

function outsideMs({ purchasedAtMs }: Shopper, touch: Touch): number {
  return Math.max(0, purchasedAtMs - touch.touchedAtMs - windowMs[touch.kind])
}

function best(candidates: readonly Credit[]): Credit | null {
  return candidates.reduce<Credit | null>(
    (winner, one) => (winner === null || compare(winner, one) === 'won' ? one : winner),
    null
  )
}

/** The outcome of `one` against the winner so far. */
function compare(winner: Credit, one: Credit): Outcome {
  if (winner.rule !== 'view' && one.rule === 'view') return 'click-preferred'
  if (winner.rule === 'direct' && one.rule === 'in-group') return 'direct-preferred'
  if (winner.rule === 'in-group' && one.rule === 'direct') return 'won'
  if (one.touchedAtMs !== winner.touchedAtMs) {
    return one.touchedAtMs > winner.touchedAtMs ? 'won' : 'earlier'
  }
  return one.servedAdId >= winner.servedAdId ? 'won' : 'smaller-served-ad-id'
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}
