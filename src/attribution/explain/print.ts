// What is decided, as the contract shows it: bounded, and without identities.

import type { Explanation } from '../../contract/explanation.ts'
import { attributionProfiles } from '../../contract/report-request.ts'
import { minorDigits } from '../../domain/currency.ts'
import { printInstant } from '../../domain/instant.ts'
import { formatAmount, formatDecimal, readNanos } from '../../domain/money.ts'
import type { DeliveryLine } from './deliveries.ts'
import type { Judge, JudgedTouch, Winner } from './judge.ts'
import type { AdTouch, TouchesFound } from './touches.ts'

export const explainLimits = {
  /** A body of 1 MiB holds 30,000 lines at most, and all of them are decided. */
  judgedLinesMax: 100_000,
  /** Shown with their candidates; an order of more is rare. */
  linesMax: 100,
  candidatesMax: 50,
} as const

type ExplainedLine = Explanation['lines'][number]
export interface Judged {
  readonly purchasedAtMs: number
  readonly found: TouchesFound
  readonly judge: Judge<AdTouch>
}

/** 32 hex digits as the ad server knows the served ad. */
export function printServedAdId(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
}

/** Milliseconds as seconds with three digits. */
export function printSeconds(ms: number): string {
  return formatDecimal(BigInt(ms), 3, 3)
}

/** An amount of the engine as reports print it. */
export function printAmount(decimal: string, currency: string): string {
  return formatAmount(readNanos(decimal), minorDigits(currency))
}

export function printLine(line: DeliveryLine, index: number, currency: string) {
  const { gtin, groupId, brand, price, quantity, value, verdict } = line
  return {
    line: index + 1,
    gtin,
    groupId,
    brand,
    price,
    quantity,
    value: printAmount(value, currency),
    verdict,
  }
}

/** Who wins the line in each profile, and what became of every touchpoint. */
export function explainLine(
  judged: Judged,
  line: DeliveryLine
): Pick<ExplainedLine, 'credits' | 'candidates' | 'candidatesLeftOut'> {
  if (line.verdict !== 'valid') {
    const credits = { CLK_14_DAYS: null, IMP_1_DAY: null, IMP_1_DAY_CLK_14_DAYS: null }
    return { credits, candidates: [], candidatesLeftOut: 0 }
  }
  const winners = judged.judge.winnersOf(line)
  const all = judged.judge.judge(line).toSorted(byWeight)
  const shown = all.slice(0, explainLimits.candidatesMax)
  const credit = (winner: Winner<AdTouch> | null) =>
    winner === null
      ? null
      : {
          rule: winner.rule,
          ...printTouch(winner.touch, judged),
          advertiserId: winner.touch.advertiserId,
        }
  return {
    credits: {
      CLK_14_DAYS: credit(winners.CLK_14_DAYS),
      IMP_1_DAY: credit(winners.IMP_1_DAY),
      IMP_1_DAY_CLK_14_DAYS: credit(winners.IMP_1_DAY_CLK_14_DAYS),
    },
    candidates: shown.map((one) => ({
      ...printCandidate(one, judged),
      siteId: one.touch.siteId,
      advertiserId: one.touch.advertiserId,
      sharedIds: one.touch.sharedIds,
    })),
    candidatesLeftOut: all.length - shown.length + judged.found.leftOutCount,
  }
}

/** Winners first, then the newest; a total order. */
export function byWeight(one: JudgedTouch<AdTouch>, other: JudgedTouch<AdTouch>): number {
  if (isWinner(one) !== isWinner(other)) return isWinner(one) ? -1 : 1
  const [a, b] = [one.touch, other.touch]
  if (a.touchedAtMs !== b.touchedAtMs) return b.touchedAtMs - a.touchedAtMs
  if (a.servedAdId !== b.servedAdId) return a.servedAdId > b.servedAdId ? -1 : 1
  return a.kind < b.kind ? -1 : 1
}

function isWinner({ outcomes }: JudgedTouch<AdTouch>): boolean {
  return attributionProfiles.some((profile) => outcomes[profile] === 'won')
}

/** Without what tells whose ad it is. */
export function printCandidate(judgedTouch: JudgedTouch<AdTouch>, judged: Judged) {
  const { touch, rule, outsideMs, outcomes } = judgedTouch
  return {
    kind: touch.kind === 'click' ? ('click' as const) : ('view' as const),
    ...printTouch(touch, judged),
    groupId: touch.groupId,
    rule,
    outsideMs,
    outcomes,
  }
}

function printTouch(touch: AdTouch, { purchasedAtMs }: Judged) {
  const { marketId, campaignId, adGroupId, gtin } = touch
  return {
    servedAdId: printServedAdId(touch.servedAdId),
    touchedAt: printInstant(touch.touchedAtMs),
    msBeforePurchase: purchasedAtMs - touch.touchedAtMs,
    marketId,
    campaignId,
    adGroupId,
    gtin,
  }
}
