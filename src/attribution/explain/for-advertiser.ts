// The explanation for an advertiser that was credited: it shows only its own ads and no other people, and
// of other advertisers no more than how many touchpoints competed.

import { printInstant } from '../../domain/instant.ts'
import type { OwnExplanation } from '../../contract/explanation.ts'
import { attributionProfiles } from '../../contract/report-request.ts'
import { judgeDelivery, readFacts } from './explain.ts'
import type { ExplainDeps, JudgedDelivery, PurchaseName } from './explain.ts'
import type { JudgedTouch } from './judge.ts'
import { ownNames, readNames } from './names.ts'
import {
  byWeight,
  explainLimits,
  mapCredits,
  printAmount,
  printCandidate,
  printTouchedAd,
} from './print.ts'
import { takenBack } from './returns.ts'
import type { TakenBack } from './returns.ts'
import type { StoredLine } from './stored.ts'

export interface OwnQuestion extends PurchaseName {
  readonly advertiserId: number
}

/** Null unless a line of the purchase is credited to the advertiser, in any profile. */
export type ExplainOwnPurchase = (question: OwnQuestion) => Promise<OwnExplanation | null>

/**
 * Shows the credits that the reports use and the candidates of the delivery behind them. So the advertiser
 * reads the same here as in its reports, also while a newer attribution is on its way.
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
    const { currency, siteId } = delivery
    const sentBack = takenBack(judged.lines, facts.returns.listed)
    const lines = shown.map(([index, line]) =>
      printOwnLine({ judged, index, advertiserId, currency, sentBack: sentBack[index] ?? [] }, line)
    )
    const names = await readNames(deps, {
      publisherId: name.publisherId,
      siteIds: [siteId],
      ads: adsOf(lines),
      advertiserIds: [],
      gtins: lines.map(({ gtin }) => gtin),
    })
    return {
      ...name,
      purchasedAt: printInstant(delivery.receivedAtMs),
      currency,
      lines,
      linesLeftOut: own.length - shown.length,
      readAt: printInstant(stored.readAtMs),
      isPending: facts.state.isPending,
      names: ownNames(names, { catalog: deps.catalog, advertiserId }),
    }
  }
}

/** The ads that the lines show; those of their credits too, since touchpoints may have been dropped. */
function adsOf(lines: readonly OwnExplanation['lines'][number][]) {
  return lines.flatMap(({ candidates, credits }) => [
    ...candidates,
    ...attributionProfiles.flatMap((profile) => credits[profile].credit ?? []),
  ])
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
  readonly sentBack: readonly TakenBack[]
}

function printOwnLine(
  own: OwnLine,
  { quantity, value, credits }: StoredLine
): OwnExplanation['lines'][number] {
  const { judged, index, advertiserId, currency, sentBack } = own
  const { purchasedAtMs } = judged
  const line = judged.lines[index]
  const all = line === undefined ? [] : judged.judge.judge(line)
  const candidates = all
    .filter((one) => one.touch.advertiserId === advertiserId && bearsOnLine(one))
    .toSorted(byWeight)
  const shown = candidates.slice(0, explainLimits.candidatesMax)
  return {
    line: index + 1,
    gtin: line?.gtin ?? '',
    quantity,
    value: printAmount(value, currency),
    boughtQuantity: line?.quantity ?? quantity,
    boughtValue: printAmount(line?.value ?? value, currency),
    returns: sentBack.map((one) => ({
      returnedAt: printInstant(one.receivedAtMs),
      quantity: one.quantity,
    })),
    credits: mapCredits(credits, (credit) => {
      if (credit === null) return { creditedTo: 'nobody' as const, credit }
      if (credit.advertiserId !== advertiserId)
        return { creditedTo: 'another' as const, credit: null }
      const printed = { rule: credit.rule, ...printTouchedAd(credit, purchasedAtMs) }
      return { creditedTo: 'you' as const, credit: printed }
    }),
    candidates: shown.map((one) => printCandidate(one, purchasedAtMs)),
    candidatesLeftOut: candidates.length - shown.length,
    otherAdvertisersCandidates: all.filter(
      (one) => one.touch.advertiserId !== advertiserId && one.rule !== null
    ).length,
  }
}

/** Advertisers must not see other shoppers' events, other products, or later events. */
function bearsOnLine({ rule, outcomes }: JudgedTouch): boolean {
  return (
    rule !== null || attributionProfiles.some((profile) => outcomes[profile] === 'outside-window')
  )
}
