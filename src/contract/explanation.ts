// Why a purchase is credited as it is: the answer for operators, the one for the advertiser that was
// credited, and the request that voids a delivery.
import { Type, type TSchema } from 'typebox'
import { closed } from './closed.ts'
import {
  count,
  flag,
  instantText,
  int32,
  list,
  named,
  nullOr,
  optional,
  text,
  uuidText,
  wordOf,
  type Of,
} from './fields.ts'
import { compileParser } from './validate.ts'

export const creditRules = ['direct', 'in-group', 'view'] as const

/** Why a touchpoint earns nothing; the first that applies, in this order. */
export const lossReasons = [
  'not-in-profile',
  'crowd-identity',
  'other-login',
  'after-purchase',
  'other-product',
  'outside-window',
  'click-preferred',
  'direct-preferred',
  'earlier',
  'smaller-served-ad-id',
] as const

/** Why a delivery of a conversion or a return was not believed. */
export const disbeliefs = ['untrusted-source', 'unauthenticated', 'unknown-publisher'] as const

export type Disbelief = (typeof disbeliefs)[number]

/** What became of a delivery: `counted` is the one that is the purchase. */
export const deliveryStandings = [
  'counted',
  'later',
  'greater-delivery-id',
  'void',
  ...disbeliefs,
  'too-late',
] as const

const lineVerdicts = ['valid', 'out-of-range', 'no-product'] as const

const place = Type.Integer({ minimum: 1, description: 'The place in the order; the first is 1.' })
const exactAmount = (description: string) => Type.String({ description })

function deliveryIdText(description: string) {
  return Type.String({
    pattern: '^[0-9a-f]{32}$',
    title: 'an id of 32 lower-case hex digits',
    description,
  })
}

const idKind = wordOf(['user', 'login'], 'The `user_id` or the `user_logged_in_id`.')

export function byProfile<T extends TSchema>(schema: T) {
  return Type.Object({
    CLK_14_DAYS: schema,
    IMP_1_DAY: schema,
    IMP_1_DAY_CLK_14_DAYS: schema,
  })
}

const touched = {
  servedAdId: uuidText(),
  touchedAt: instantText('When the click or the impression was received.'),
  msBeforePurchase: Type.Integer({ description: 'Negative: after the purchase.' }),
}

const placedAd = {
  marketId: int32(),
  campaignId: int32(),
  adGroupId: int32(),
  gtin: text('The advertised product, as the ad spells it.'),
}

const rule = wordOf(creditRules)
const outcome = wordOf(['won', ...lossReasons])

const creditSchema = named('Credit', { rule, ...touched, advertiserId: int32(), ...placedAd })

const candidate = {
  kind: wordOf(['click', 'view']),
  ...touched,
  ...placedAd,
  groupId: Type.String(),
  rule: nullOr(rule),
  outsideMs: Type.Integer({
    minimum: 0,
    description: 'How far it lies before the window of its kind; 0 inside the window.',
  }),
  outcomes: byProfile(outcome),
}

const candidateSchema = named('Candidate', {
  ...candidate,
  siteId: int32(),
  advertiserId: int32(),
  sharedIds: list(idKind, 'Which ids of the purchase it carries.'),
})

const purchasedLine = {
  line: place,
  gtin: text('As the shop sent it.'),
  groupId: Type.String(),
  brand: Type.String(),
  price: Type.Number(),
  quantity: int32(),
  value: exactAmount('Price × quantity, exact; 0 where it is out of range.'),
  verdict: wordOf(lineVerdicts, 'Only valid lines are ever credited.'),
}

const judgedAt = instantText(
  'When it was voided, or judged again; absent where the verdict of its shipping stands.'
)

const deliverySchema = named('Delivery', {
  deliveryId: deliveryIdText('Also what voids it.'),
  receivedAt: instantText(),
  siteId: int32(),
  currency: Type.String(),
  standing: wordOf(deliveryStandings),
  isConflict: flag('A repeat with other content than the delivery that counts.'),
  voidedAt: optional(instantText()),
  judgedAt: optional(judgedAt),
  lineCount: count('All its lines, listed or not.'),
  lines: optional(list(Type.Object(purchasedLine), 'Of the first deliveries only.')),
})

const returnSchema = named('ReturnDelivery', {
  returnId: Type.String(),
  deliveryId: deliveryIdText('Of the return; also what voids it.'),
  receivedAt: instantText(),
  standing: wordOf(deliveryStandings, 'Among the deliveries of its return.'),
  isConflict: flag('A repeat with other content than the delivery of the return that counts.'),
  judgedAt: optional(judgedAt),
  products: list(Type.Object({ gtin: Type.String(), quantity: int32() }), 'The first of them.'),
})

const explainedLineSchema = named('ExplainedLine', {
  ...purchasedLine,
  remainingQuantity: int32('After what was sent back.'),
  remainingValue: exactAmount('Price × the quantity that remains; this is what is credited.'),
  credits: byProfile(nullOr(creditSchema)),
  candidates: list(candidateSchema, 'Winners first, then the newest.'),
  candidatesLeftOut: count('Touchpoints that are not listed.'),
})

const namedIds = Type.Array(Type.Object({ id: int32(), name: Type.String() }))

const ownNames = {
  publisher: nullOr(Type.String()),
  markets: list(Type.Object({ id: int32(), code: Type.String(), timeZone: Type.String() })),
  campaigns: namedIds,
  adGroups: namedIds,
  products: list(
    Type.Object({
      marketId: int32(),
      gtin: text('As this answer spells it.'),
      title: Type.String(),
    })
  ),
}

const namesRule = {
  description: 'What the catalog calls the ids of this answer, as far as it knows them.',
}

export const explanationSchema = named('Explanation', {
  publisherId: int32(),
  transactionId: Type.String(),
  deliveries: list(deliverySchema, 'The earliest first.'),
  deliveriesLeftOut: count('Deliveries that are not listed.'),
  returns: list(returnSchema, 'The earliest first.'),
  returnsLeftOut: count('Deliveries of returns that are not listed; they count all the same.'),
  countedDeliveryId: nullOr(deliveryIdText('Null where no delivery may count.')),
  ids: list(
    Type.Object({
      kind: idKind,
      touchpoints: count('Under this id in the 15 days up to the purchase.'),
      isCrowd: flag('More than one person makes; then it joins nothing.'),
    }),
    'The ids of the delivery that counts. Neither ids nor hashes are shown.'
  ),
  lines: list(
    explainedLineSchema,
    'Of the delivery that counts; of an erased shopper, of the one that keeps the credit.'
  ),
  linesLeftOut: count('Lines that are not listed.'),
  attribution: nullOr(
    Type.Object(
      {
        readAt: instantText('When its reading began.'),
        deliveryId: nullOr(deliveryIdText('The delivery that counted then.')),
        isFrozen: flag(
          'By an erasure: who is credited is kept, here and in the lines. Returns and voids still take units and value back.'
        ),
        creditedLines: count('Lines that some profile credits.'),
      },
      { title: 'StoredAttribution', description: 'What the reports use.' }
    )
  ),
  isPending: flag('A newer attribution is on its way.'),
  isUpToDate: flag('What the reports use agrees with this explanation.'),
  names: Type.Object({ ...ownNames, sites: namedIds, advertisers: namedIds }, namesRule),
})

const creditedTo = wordOf(['you', 'another', 'nobody'])

const ownLineSchema = named('OwnCreditedLine', {
  line: place,
  gtin: text('As the shop sent it.'),
  quantity: int32('The units that are credited, after returns.'),
  value: exactAmount('What is credited, in the currency of the purchase, exact.'),
  boughtQuantity: int32('The units that were bought, before returns.'),
  boughtValue: exactAmount('Price × the quantity that was bought, exact.'),
  returns: list(
    Type.Object({
      returnedAt: instantText('When the return was received.'),
      quantity: Type.Integer({ minimum: 1, description: 'Units of this line that it took back.' }),
    }),
    'The returns that count, the earliest first.'
  ),
  credits: byProfile(
    Type.Object({
      creditedTo,
      credit: nullOr(named('OwnCredit', { rule, ...touched, ...placedAd })),
    })
  ),
  candidates: list(
    Type.Object(candidate),
    'Your own clicks and impressions of the product or its group that came before the purchase.'
  ),
  candidatesLeftOut: count('Of your own, not listed.'),
  otherAdvertisersCandidates: count('Touchpoints of others that might have earned the line.'),
})

export const ownExplanationSchema = named('OwnExplanation', {
  publisherId: int32(),
  transactionId: Type.String(),
  purchasedAt: instantText(),
  currency: text('Of the purchase.'),
  lines: list(ownLineSchema, 'The lines that some profile credits to you.'),
  linesLeftOut: count('Such lines that are not listed.'),
  readAt: instantText('When the reading of the attribution began.'),
  isPending: flag('A newer attribution is on its way.'),
  names: Type.Object(ownNames, namesRule),
})

export const voidRequestSchema = closed(
  named('VoidRequest', {
    deliveryId: deliveryIdText('As the explanation lists it, of the purchase or of a return.'),
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'For the audit: why it does not count, or why it does after all.',
    }),
  })
)

export const voidResponseSchema = named('VoidResponse', {
  deliveryId: deliveryIdText('The delivery that is void.'),
  voidedAt: instantText('When it was voided first.'),
  countedDeliveryId: nullOr(
    deliveryIdText('The delivery that counts now, of the purchase or of this return; null: none.')
  ),
})

export const unvoidResponseSchema = named('UnvoidResponse', {
  deliveryId: deliveryIdText('The delivery that is not void any more.'),
  judgedAt: instantText('Since when.'),
  countedDeliveryId: nullOr(
    deliveryIdText('The delivery that counts now, of the purchase or of this return; null: none.')
  ),
})

export type Explanation = Of<typeof explanationSchema>
export type OwnExplanation = Of<typeof ownExplanationSchema>
export type CreditRule = (typeof creditRules)[number]
export type LossReason = (typeof lossReasons)[number]
export type DeliveryStanding = (typeof deliveryStandings)[number]

export const parseVoidRequest = compileParser(voidRequestSchema)
