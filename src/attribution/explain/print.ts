// Prints what was decided as the contract shows it: bounded, and without identities.

import { attributionProfiles } from '../../contract/report-request.ts'
import { minorDigits } from '../../domain/currency.ts'
import { printInstant } from '../../domain/instant.ts'
import { formatAmount, formatDecimal, readNanos } from '../../domain/money.ts'
import type { DeliveryLine } from './deliveries.ts'
import type { Credit, Credits, JudgedTouch, TouchedAd } from './judge.ts'

export const explainLimits = {
  /** All lines are decided; a body of 1 MiB holds 30,000 at most. */
  judgedLinesMax: 100_000,
  /** Lines that are shown with their candidates; larger orders are rare. */
  linesMax: 100,
  candidatesMax: 50,
} as const

/** 32 hex digits as the ad server knows the served ad. */
export function printServedAdId(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
}

/** Milliseconds as seconds with three digits. */
export function printSeconds(ms: number): string {
  return formatDecimal(BigInt(ms), 3, 3)
}

/** An amount of the warehouse as reports print it. */
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

/** The credits of all profiles, each printed. */
export function mapCredits<Printed>(credits: Credits, print: (credit: Credit | null) => Printed) {
  return {
    CLK_14_DAYS: print(credits.CLK_14_DAYS),
    IMP_1_DAY: print(credits.IMP_1_DAY),
    IMP_1_DAY_CLK_14_DAYS: print(credits.IMP_1_DAY_CLK_14_DAYS),
  }
}

/** Winners first, then the newest; a total order. */
export function byWeight(one: JudgedTouch, other: JudgedTouch): number {
  if (isWinner(one) !== isWinner(other)) return isWinner(one) ? -1 : 1
  const [a, b] = [one.touch, other.touch]
  if (a.touchedAtMs !== b.touchedAtMs) return b.touchedAtMs - a.touchedAtMs
  if (a.servedAdId !== b.servedAdId) return a.servedAdId > b.servedAdId ? -1 : 1
  return a.kind < b.kind ? -1 : 1
}

function isWinner({ outcomes }: JudgedTouch): boolean {
  return attributionProfiles.some((profile) => outcomes[profile] === 'won')
}

/** Without what tells whose ad it is. */
export function printCandidate(judgedTouch: JudgedTouch, purchasedAtMs: number) {
  const { touch, rule, outsideMs, outcomes } = judgedTouch
  return {
    kind: touch.kind === 'click' ? ('click' as const) : ('view' as const),
    ...printTouchedAd(touch, purchasedAtMs),
    groupId: touch.groupId,
    rule,
    outsideMs,
    outcomes,
  }
}

/** Without its advertiser. */
export function printTouchedAd(ad: TouchedAd, purchasedAtMs: number) {
  const { servedAdId, touchedAtMs, marketId, campaignId, adGroupId, gtin } = ad
  return {
    servedAdId: printServedAdId(servedAdId),
    touchedAt: printInstant(touchedAtMs),
    msBeforePurchase: purchasedAtMs - touchedAtMs,
    marketId,
    campaignId,
    adGroupId,
    gtin,
  }
}
