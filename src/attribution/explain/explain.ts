// Explains why a purchase is credited as it is, decided anew from the deliveries and the touchpoints.

import type { Explanation } from '../../contract/explanation.ts'
import { attributionProfiles } from '../../contract/report-request.ts'
import { readFinalSinceMs } from '../../days/final-days.ts'
import { printInstant } from '../../domain/instant.ts'
import { purchaseKey } from '../../domain/purchase-key.ts'
import { crowdTouchpointsMax } from '../../domain/windows.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import { deliveryLimits, readDeliveries, readIdentities, readLines } from './deliveries.ts'
import type { Delivery, DeliveryLine, PurchaseDeliveries, PurchaseId } from './deliveries.ts'
import { createJudge, noCredits } from './judge.ts'
import type { Credits, Judge } from './judge.ts'
import { readNames } from './names.ts'
import type { NamedIds, NamesDeps } from './names.ts'
import {
  byWeight,
  explainLimits,
  mapCredits,
  printAmount,
  printCandidate,
  printLine,
  printTouchedAd,
} from './print.ts'
import { readReturns, remainingQuantities, remainingValue } from './returns.ts'
import type { PurchaseReturns } from './returns.ts'
import { areSameCredits, readStored } from './stored.ts'
import type { StoredAttribution, StoredState } from './stored.ts'
import { readTouches } from './touches.ts'
import type { TouchesFound } from './touches.ts'

export interface ExplainDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'barrier'>
  readonly catalog: NamesDeps['catalog']
  /** How long attribution waits for touchpoints; tells what is still pending. */
  readonly settleMs: number
  /** Lowered by tests only. */
  readonly crowdMax?: number
}

export interface PurchaseName {
  readonly publisherId: number
  readonly transactionId: string
}

const reads = [
  'delivery',
  'delivery_judgement',
  'purchase_return',
  'final_before',
  'purchase',
  'attribution',
  'pending_purchase',
  'touchpoint',
  'product',
] as const

/** Null where nothing is known about the purchase. */
export type ExplainPurchase = (name: PurchaseName) => Promise<Explanation | null>

/** What is known about a purchase before anything is decided. */
export interface PurchaseFacts {
  readonly id: PurchaseId
  readonly deliveries: PurchaseDeliveries
  readonly returns: PurchaseReturns
  readonly state: StoredState
}

/** A delivery with its lines, decided as if it counted. */
export interface JudgedDelivery {
  readonly deliveryId: string
  readonly purchasedAtMs: number
  readonly lines: readonly DeliveryLine[]
  readonly found: TouchesFound
  readonly judge: Judge
}

export function createExplainer(deps: ExplainDeps): ExplainPurchase {
  return async (name) => {
    const facts = await readFacts(deps, name)
    if (facts === null) return null
    const delivery = explainedDelivery(facts)
    const judged = delivery === null ? null : await judgeDelivery(deps, facts.id, delivery)
    const printed = printJudged(judged, facts, delivery?.currency ?? '')
    return {
      ...name,
      ...(await printDeliveries(deps, facts)),
      ...printReturns(facts.returns),
      ...printed,
      names: await readNames(deps, namedIds(name.publisherId, printed.lines, facts)),
    }
  }
}

/** Null where nothing is known about the purchase, or the transaction names none. */
export async function readFacts(
  { warehouse, settleMs }: ExplainDeps,
  { publisherId, transactionId }: PurchaseName
): Promise<PurchaseFacts | null> {
  const key = purchaseKey(publisherId, transactionId)
  if (key === null) return null
  const id = { publisherId, purchaseKey: key }
  await warehouse.barrier(reads)
  const deliveries = await readDeliveries(warehouse, id)
  const [firstDay] = deliveries.days
  const finalSinceMs = firstDay === undefined ? null : await readFinalSinceMs(warehouse, firstDay)
  const [returns, state] = await Promise.all([
    readReturns(warehouse, { ...id, finalSinceMs }),
    readStored(warehouse, { ...id, days: deliveries.days, settleMs }),
  ])
  if (deliveries.deliveries.length === 0 && returns.listed.length === 0) return null
  return { id, deliveries, returns, state }
}

/** The delivery whose lines are explained: the one that counts, or that keeps the credit of an erased shopper. */
function explainedDelivery({ deliveries, state: { stored } }: PurchaseFacts): Delivery | null {
  const { winner, deliveries: all } = deliveries
  if (stored?.isFrozen !== true) return winner
  return all.find(({ deliveryId }) => deliveryId === stored.deliveryId) ?? winner
}

export async function judgeDelivery(
  { warehouse, crowdMax = crowdTouchpointsMax }: ExplainDeps,
  id: PurchaseId,
  delivery: Delivery
): Promise<JudgedDelivery> {
  const purchasedAtMs = delivery.receivedAtMs
  const [lines, identities] = await Promise.all([
    readLines(warehouse, id, { deliveries: [delivery], linesMax: explainLimits.judgedLinesMax }),
    readIdentities(warehouse, id, delivery),
  ])
  const { publisherId } = id
  const found = await readTouches(warehouse, { publisherId, purchasedAtMs, identities, crowdMax })
  const crowdIds = found.ids.filter((one) => one.isCrowd).map(({ kind }) => kind)
  const judge = createJudge(
    { purchasedAtMs, loginIdentity: identities.login, crowdIds },
    found.touches
  )
  return {
    deliveryId: delivery.deliveryId,
    purchasedAtMs,
    lines: lines.get(delivery.deliveryId) ?? [],
    found,
    judge,
  }
}

/** What an explanation names by its id. */
function namedIds(
  publisherId: number,
  lines: Explanation['lines'],
  { deliveries }: PurchaseFacts
): NamedIds {
  const ads = lines.flatMap(({ candidates, credits }) => [
    ...candidates,
    ...attributionProfiles.flatMap((profile) => credits[profile] ?? []),
  ])
  return {
    publisherId,
    siteIds: deliveries.deliveries.map(({ siteId }) => siteId),
    ads,
    advertiserIds: ads.map(({ advertiserId }) => advertiserId),
    gtins: lines.map(({ gtin }) => gtin),
  }
}

async function printDeliveries({ warehouse }: ExplainDeps, { id, deliveries }: PurchaseFacts) {
  const { winner } = deliveries
  const shown = deliveries.deliveries.slice(0, deliveryLimits.withLinesMax)
  const lines = await readLines(warehouse, id, {
    deliveries: shown,
    linesMax: explainLimits.linesMax,
  })
  // If no delivery counts, repeats are compared with the first.
  const reference = winner ?? deliveries.deliveries[0]
  return {
    deliveries: deliveries.deliveries.map((delivery) => {
      const own = lines.get(delivery.deliveryId)
      return {
        deliveryId: delivery.deliveryId,
        receivedAt: printInstant(delivery.receivedAtMs),
        siteId: delivery.siteId,
        currency: delivery.currency,
        standing: delivery.standing,
        isConflict: delivery.contentHash !== reference?.contentHash,
        ...(delivery.voidedAtMs !== null && { voidedAt: printInstant(delivery.voidedAtMs) }),
        ...(delivery.judgedAtMs !== null && { judgedAt: printInstant(delivery.judgedAtMs) }),
        lineCount: delivery.lineCount,
        ...(own !== undefined && {
          lines: own.map((line, index) => printLine(line, index, delivery.currency)),
        }),
      }
    }),
    deliveriesLeftOut: deliveries.leftOutCount,
    countedDeliveryId: winner?.deliveryId ?? null,
  }
}

function printReturns({ listed, leftOutCount }: PurchaseReturns) {
  return {
    returns: listed.map(({ receivedAtMs, judgedAtMs, ...one }) => ({
      ...one,
      receivedAt: printInstant(receivedAtMs),
      ...(judgedAtMs !== null && { judgedAt: printInstant(judgedAtMs) }),
    })),
    returnsLeftOut: leftOutCount,
  }
}

function printJudged(judged: JudgedDelivery | null, facts: PurchaseFacts, currency: string) {
  const { deliveries, returns } = facts
  const { stored, isPending } = facts.state
  const remaining = remainingQuantities(judged?.lines ?? [], returns.units)
  const shown = (judged?.lines ?? []).slice(0, explainLimits.linesMax)
  return {
    ids: (judged?.found.ids ?? []).map(({ kind, touchpointCount, isCrowd }) => ({
      kind,
      touchpoints: touchpointCount,
      isCrowd,
    })),
    lines:
      judged === null
        ? []
        : shown.map((line, index) => ({
            ...printLine(line, index, currency),
            ...printRemaining(line, remaining[index] ?? line.quantity, currency),
            ...printRace(judged, line, creditsOf({ judged, stored, index, line })),
          })),
    linesLeftOut: (judged?.lines.length ?? 0) - shown.length,
    attribution: stored === null ? null : printStored(stored),
    isPending,
    // If no delivery may ever win, there is nothing to attribute.
    isUpToDate: stored === null ? deliveries.days.length === 0 : agrees(stored, judged, remaining),
  }
}

function printStored({ readAtMs, deliveryId, isFrozen, lines }: StoredAttribution) {
  return {
    readAt: printInstant(readAtMs),
    deliveryId: deliveryId === '' ? null : deliveryId,
    isFrozen,
    creditedLines: lines.size,
  }
}

function printRemaining(line: DeliveryLine, remaining: number, currency: string) {
  return {
    remainingQuantity: remaining,
    remainingValue: printAmount(remainingValue(line, remaining), currency),
  }
}

interface CreditedLine {
  readonly judged: JudgedDelivery
  readonly stored: StoredAttribution | null
  /** From 0. */
  readonly index: number
  readonly line: DeliveryLine
}

/** Who wins a line in each profile: decided now, or kept where the touchpoints were erased. */
function creditsOf({ judged, stored, index, line }: CreditedLine): Credits {
  const isKept = stored?.isFrozen === true && stored.deliveryId === judged.deliveryId
  return isKept ? (stored.lines.get(index)?.credits ?? noCredits) : judged.judge.creditsOf(line)
}

/** Who wins the line in each profile, and what became of every touchpoint. */
function printRace(
  { judge, purchasedAtMs, found }: JudgedDelivery,
  line: DeliveryLine,
  credited: Credits
): Pick<Explanation['lines'][number], 'credits' | 'candidates' | 'candidatesLeftOut'> {
  const all = judge.judge(line).toSorted(byWeight)
  const shown = all.slice(0, explainLimits.candidatesMax)
  return {
    credits: mapCredits(credited, (credit) => {
      if (credit === null) return null
      const { rule, advertiserId } = credit
      return { rule, ...printTouchedAd(credit, purchasedAtMs), advertiserId }
    }),
    candidates: shown.map((one) => ({
      ...printCandidate(one, purchasedAtMs),
      siteId: one.touch.siteId,
      advertiserId: one.touch.advertiserId,
      sharedIds: one.touch.sharedIds,
    })),
    candidatesLeftOut:
      line.verdict === 'valid' ? all.length - shown.length + found.leftOutCount : 0,
  }
}

/** Whether what is stored credits every line as was decided now, and with as many units. */
function agrees(
  stored: StoredAttribution,
  judged: JudgedDelivery | null,
  remaining: readonly number[]
): boolean {
  if (stored.deliveryId !== (judged?.deliveryId ?? '')) return false
  if (judged === null) return stored.lines.size === 0
  return judged.lines.every((line, index) => {
    const own = stored.lines.get(index)
    if (own !== undefined && own.quantity !== remaining[index]) return false
    return areSameCredits(own?.credits ?? noCredits, creditsOf({ judged, stored, index, line }))
  })
}
