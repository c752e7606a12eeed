// The explanation of a purchase as text for a terminal.

import type { Explanation, LossReason } from '../contract/explanation.ts'
import { attributionProfiles } from '../contract/report-request.ts'
import type { AttributionProfile } from '../contract/report-request.ts'
import { fitLine, type Layout } from './layout.ts'
import { formatTable, printable } from './table.ts'
import { counted } from './words.ts'

type Line = Explanation['lines'][number]
type Candidate = Line['candidates'][number]

export function formatExplanation(explanation: Explanation, layout: Layout): string {
  return [
    `Purchase ${printable(explanation.transactionId)} of publisher ${explanation.publisherId}`,
    '',
    ...deliveryLines(explanation, layout),
    ...returnLines(explanation, layout),
    '',
    ...explanation.ids.map(({ kind, touchpoints, isCrowd }) =>
      fitLine(
        `The ${kind === 'user' ? 'user_id' : 'user_logged_in_id'} has ${counted(touchpoints, 'touchpoint')} in the 15 days ` +
          `up to the purchase${isCrowd ? ': a crowd (more than one person makes), it joins nothing.' : '.'}`,
        layout
      )
    ),
    ...explanation.lines.flatMap((line) => lineLines(line, layout)),
    ...leftOut(explanation.linesLeftOut, 'lines'),
    '',
    fitLine(stateLine(explanation), layout),
  ].join('\n')
}

const standings = {
  counted: 'counts',
  later: 'repeat: received later',
  'greater-delivery-id': 'repeat: same millisecond, greater id',
  void: 'void',
  'untrusted-source': 'never counts: untrusted source',
  unauthenticated: 'never counts: no key that counts',
  'unknown-publisher': 'never counts: unknown publisher without a key',
  'too-late': 'never counts: too late',
} as const satisfies Record<Explanation['deliveries'][number]['standing'], string>

function deliveryLines(
  { deliveries, deliveriesLeftOut }: Explanation,
  layout: Layout
): readonly string[] {
  const rows = deliveries.map((delivery) => [
    delivery.deliveryId,
    delivery.receivedAt,
    String(delivery.siteId),
    delivery.currency,
    String(delivery.lineCount),
    `${standings[delivery.standing]}${delivery.voidedAt === undefined ? '' : ` since ${delivery.voidedAt}`}${delivery.isConflict ? ', other content' : ''}`,
  ])
  const header = ['DELIVERY', 'RECEIVED AT', 'SITE', 'CURRENCY', 'LINES', 'STANDING']
  return [formatTable(header, rows, layout), ...leftOut(deliveriesLeftOut, 'deliveries')]
}

function returnLines({ returns, returnsLeftOut }: Explanation, layout: Layout): readonly string[] {
  if (returns.length === 0) return []
  const rows = returns.map((one) => [
    one.returnId,
    one.receivedAt,
    one.products.map(({ gtin, quantity }) => `${quantity} x ${gtin}`).join(', '),
    `${standings[one.standing]}${one.isConflict ? ', other content' : ''}`,
  ])
  const header = ['RETURN', 'RECEIVED AT', 'PRODUCTS', 'STANDING']
  return [
    '',
    formatTable(header, rows, layout),
    ...leftOut(returnsLeftOut, 'deliveries of returns'),
  ]
}

const neverCredited = {
  'out-of-range': 'out of range: never credited',
  'no-product': 'without a product: never credited',
} as const

function lineLines(line: Line, layout: Layout): readonly string[] {
  const { gtin, groupId, quantity, price, verdict } = line
  const group = groupId === '' ? '' : `, group ${groupId}`
  const sentBack = quantity - line.remainingQuantity
  const rest = sentBack === 0 ? '' : `, ${sentBack} of them sent back`
  const head = printable(`Line ${line.line}: ${quantity} x ${gtin}${group} at ${price}${rest}`)
  if (verdict !== 'valid') return ['', fitLine(`${head}: ${neverCredited[verdict]}`, layout)]
  return [
    '',
    fitLine(head, layout),
    ...attributionProfiles.map((profile) =>
      fitLine(`  ${profile}: ${creditText(line, profile)}`, layout)
    ),
    ...(line.candidates.length === 0
      ? ['  no touchpoints']
      : [candidateTable(line.candidates, layout)]),
    ...leftOut(line.candidatesLeftOut, 'touchpoints').map((text) => `  ${text}`),
  ]
}

const ruleNames = {
  direct: 'direct click',
  'in-group': 'click in the group',
  view: 'impression',
} as const

function creditText({ credits }: Line, profile: AttributionProfile): string {
  const credit = credits[profile]
  if (credit === null) return 'nobody'
  const { rule, advertiserId, campaignId, servedAdId, msBeforePurchase } = credit
  return `advertiser ${advertiserId}, campaign ${campaignId}, ${ruleNames[rule]} of ad ${servedAdId}, ${durationText(msBeforePurchase)} before`
}

function candidateTable(candidates: readonly Candidate[], { width, hasColor }: Layout): string {
  const rows = candidates.map((one) => [
    one.kind,
    one.touchedAt,
    durationText(one.msBeforePurchase),
    String(one.advertiserId),
    one.gtin,
    one.servedAdId,
    outcomeText(one),
  ])
  const header = ['KIND', 'TOUCHED AT', 'BEFORE', 'ADVERTISER', 'GTIN', 'SERVED AD', 'OUTCOME']
  const inside = { width: width === null ? null : width - 2, hasColor }
  return formatTable(header, rows, inside).replaceAll(/^(?=.)/gmu, '  ')
}

const reasons = {
  'not-in-profile': 'its kind is not in the profile',
  'crowd-identity': 'shares only the id of a crowd',
  'other-login': 'another logged-in id',
  'after-purchase': 'after the purchase',
  'other-product': 'another product',
  'outside-window': 'outside of the window',
  'click-preferred': 'a click is preferred',
  'direct-preferred': 'a direct click is preferred',
  earlier: 'earlier than the winner',
  'smaller-served-ad-id': 'same millisecond, smaller served ad id',
} as const satisfies Record<LossReason, string>

/** The outcome in the profile of its kind, and in the profile of both kinds if that differs. */
function outcomeText({ kind, outcomes, outsideMs }: Candidate): string {
  const own = outcomes[kind === 'click' ? 'CLK_14_DAYS' : 'IMP_1_DAY']
  const both = outcomes.IMP_1_DAY_CLK_14_DAYS
  const text = (outcome: typeof own): string => {
    if (outcome === 'won') return 'won'
    const by = outcome === 'outside-window' ? ` by ${durationText(outsideMs)}` : ''
    return `${reasons[outcome]}${by}`
  }
  return own === both ? text(own) : `${text(own)}; beside clicks: ${text(both)}`
}

function durationText(ms: number): string {
  const size = Math.abs(ms)
  const parts = [
    [Math.floor(size / 86_400_000), 'd'],
    [Math.floor(size / 3_600_000) % 24, 'h'],
    [Math.floor(size / 60_000) % 60, 'min'],
  ] as const
  const seconds = `${(size % 60_000) / 1_000} s`
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  return `${ms < 0 ? '-' : ''}${[...shown, seconds].join(' ')}`
}

function stateLine({ attribution, isPending, isUpToDate }: Explanation): string {
  const pending = isPending ? ' A newer attribution is on its way.' : ''
  if (attribution === null) return `No attribution of it is in the reports yet.${pending}`
  const read = `The attribution in the reports was read at ${attribution.readAt}`
  // What it was made from is erased, so there is nothing to compare.
  if (attribution.isFrozen) {
    return `${read} and is frozen by an erasure: credit stays with the same ads, returns and voids still take units and value back, and nothing else is known of the shopper.${pending}`
  }
  const agreement = isUpToDate ? 'agrees with this' : 'does not agree with this'
  return `${read} and ${agreement}.${pending}`
}

function leftOut(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`(${count} more ${what})`]
}
