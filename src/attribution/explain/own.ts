// The same for an advertiser that was credited: its own ads only, without other people, and of other
// advertisers no more than how many stood against it.

import { printInstant } from '../../domain/instant.ts'
import type { OwnExplanation } from '../../contract/explanation.ts'
import { attributionProfiles } from '../../contract/report-request.ts'
import type { AttributionProfile } from '../../contract/report-request.ts'
import type { DeliveryLine } from './deliveries.ts'
import { judgeDelivery, readFacts } from './explain.ts'
import type { ExplainDeps, JudgedDelivery, PurchaseName } from './explain.ts'
import type { JudgedTouch } from './judge.ts'
import { byWeight, explainLimits, printCandidate, printAmount, printServedAdId } from './print.ts'
import type { StoredCredit, StoredLine } from './stored.ts'
import type { AdTouch } from './touches.ts'

export interface OwnQuestion extends PurchaseName {
  readonly advertiserId: number
}

/** Null unless a line of the purchase is credited to the advertiser, in any profile. */
export type ExplainOwnPurchase = (question: OwnQuestion) => Promise<OwnExplanation | null>

/**
 * The credits are those that the reports use, and the candidates are those of the delivery behind them:
 * what the advertiser reads here is what it was told elsewhere, also while a newer one is on its way.
 */
export function createOwnExplainer(deps: ExplainDeps): ExplainOwnPurchase {
  return async ({ advertiserId, ...name }) => {
    const facts = await readFacts(deps, name)
    const stored = facts?.state.stored ?? null
    if (facts === null || stored === null) return null
    const own = [...stored.lines].filter(([, line]) => isCreditedTo(line, advertiserId))
    const delivery = facts.deliveries.deliveries.find((one) => one.deliveryId === stored.deliveryId)
    if (own.length === 0 || delivery === undefined) return null

    const judged = await judgeDelivery(deps, facts.id, delivery)
    const shown = own.slice(0, explainLimits.linesMax)
    const { currency } = delivery
    return {
      ...name,
      purchasedAt: printInstant(delivery.receivedAtMs),
      currency,
      lines: shown.map(([index, line]) =>
        printOwnLine({ judged, index, advertiserId, currency }, line)
      ),
      linesLeftOut: own.length - shown.length,
      readAt: printInstant(stored.readAtMs),
      isPending: facts.state.isPending,
    }
  }
}

function isCreditedTo({ credits }: StoredLine, advertiserId: number): boolean {
  return attributionProfiles.some((profile) => credits[profile]?.advertiserId === advertiserId)
}

interface OwnLine {
  readonly judged: JudgedDelivery
  /** From 0. */
  readonly index: number
  readonly advertiserId: number
  readonly currency: string
}

function printOwnLine(own: OwnLine, { quantity, value, credits }: StoredLine) {
  const { judged, index, currency } = own
  const line = judged.lines[index]
  const credit = (profile: AttributionProfile) => printCredit(own, credits[profile])
  return {
    line: index + 1,
    gtin: line?.gtin ?? '',
    quantity,
    value: printAmount(value, currency),
    credits: {
      CLK_14_DAYS: credit('CLK_14_DAYS'),
      IMP_1_DAY: credit('IMP_1_DAY'),
      IMP_1_DAY_CLK_14_DAYS: credit('IMP_1_DAY_CLK_14_DAYS'),
    },
    ...printRace(own, line),
  }
}

function printCredit({ judged, advertiserId }: OwnLine, credit: StoredCredit | null) {
  if (credit === null) return { creditedTo: 'nobody', credit: null } as const
  if (credit.advertiserId !== advertiserId) return { creditedTo: 'another', credit: null } as const
  const { rule, servedAdId, touchedAtMs, marketId, campaignId, adGroupId, gtin } = credit
  return {
    creditedTo: 'you',
    credit: {
      rule,
      servedAdId: printServedAdId(servedAdId),
      touchedAt: printInstant(touchedAtMs),
      msBeforePurchase: judged.purchasedAtMs - touchedAtMs,
      marketId,
      campaignId,
      adGroupId,
      gtin,
    },
  } as const
}

function printRace({ judged, advertiserId }: OwnLine, line: DeliveryLine | undefined) {
  const all = line?.verdict === 'valid' ? judged.judge.judge(line) : []
  const own = all
    .filter((one) => one.touch.advertiserId === advertiserId && bearsOnLine(one))
    .toSorted(byWeight)
  const shown = own.slice(0, explainLimits.candidatesMax)
  return {
    candidates: shown.map((one) => printCandidate(one, judged)),
    candidatesLeftOut: own.length - shown.length,
    otherAdvertisersCandidates: all.filter(
      (one) => one.touch.advertiserId !== advertiserId && one.rule !== null
    ).length,
  }
}

/** What other people did, or the shopper with other products or later, is no business of an advertiser. */
function bearsOnLine({ rule, outcomes }: JudgedTouch<AdTouch>): boolean {
  return (
    rule !== null || attributionProfiles.some((profile) => outcomes[profile] === 'outside-window')
  )
}
