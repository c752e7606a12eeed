// Why a purchase is credited as it is: the answer for operators, the one for the advertiser that was
// credited, and the request that voids a delivery.
import { Type, type TSchema } from 'typebox'
import { closed } from './closed.ts'
import { count, instantText, int32, nullOr, uuidText, wordOf, type Of } from './fields.ts'
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

/** What became of a delivery: `counted` is the one that is the purchase. */
export const deliveryStandings = [
  'counted',
  'later',
  'greater-delivery-id',
  'void',
  'untrusted-source',
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

const idKind = wordOf(['user', 'login'], {
  description: 'The `user_id` or the `user_logged_in_id`.',
})

export function byProfile<T extends TSchema>(schema: T) {
  return Type.Object({
    CLK_14_DAYS: schema,
    IMP_1_DAY: schema,
    IMP_1_DAY_CLK_14_DAYS: schema,
  })
}

const touched = {
  servedAdId: uuidText(),
  touchedAt: instantText({ description: 'When the click or the view was received.' }),
  msBeforePurchase: Type.Integer({ description: 'Negative: after the purchase.' }),
}

const placedAd = {
  marketId: int32(),
  campaignId: int32(),
  adGroupId: int32(),
  gtin: Type.String({ description: 'The advertised product, as the ad spells it.' }),
}

const rule = wordOf(creditRules)
const outcome = wordOf(['won', ...lossReasons])

const creditSchema = Type.Object(
  { rule, ...touched, advertiserId: int32(), ...placedAd },
  { title: 'Credit' }
)

const candidate = {
  kind: wordOf(['click', 'view']),
  ...touched,
  ...placedAd,
  groupId: Type.String(),
  rule: nullOr(rule),
  outsideMs: Type.Integer({
    minimum: 0,
    description: 'By how much it lies before the window of its kind; 0 inside.',
  }),
  outcomes: byProfile(outcome),
}

const candidateSchema = Type.Object(
  {
    ...candidate,
    siteId: int32(),
    advertiserId: int32(),
    sharedIds: Type.Array(idKind, { description: 'Which ids of the purchase it carries.' }),
  },
  { title: 'Candidate' }
)

const purchasedLine = {
  line: place,
  gtin: Type.String({ description: 'As the shop sent it.' }),
  groupId: Type.String(),
  brand: Type.String(),
  price: Type.Number(),
  quantity: int32(),
  value: exactAmount('Price × quantity, exact; 0 where it is out of range.'),
  verdict: wordOf(lineVerdicts, { description: 'Only valid lines are ever credited.' }),
}

const deliverySchema = Type.Object(
  {
    deliveryId: deliveryIdText('Also what voids it.'),
    receivedAt: instantText(),
    siteId: int32(),
    currency: Type.String(),
    standing: wordOf(deliveryStandings),
    isConflict: Type.Boolean({
      description: 'A repeat with other content than the delivery that counts.',
    }),
    voidedAt: Type.Optional(instantText()),
    lineCount: count('All its lines, listed or not.'),
    lines: Type.Optional(
      Type.Array(Type.Object(purchasedLine), { description: 'Of the first deliveries only.' })
    ),
  },
  { title: 'Delivery' }
)

const returnSchema = Type.Object(
  {
    returnId: Type.String(),
    deliveryId: deliveryIdText('Of the return.'),
    receivedAt: instantText(),
    standing: wordOf(deliveryStandings, { description: 'Among the deliveries of its return.' }),
    isConflict: Type.Boolean({
      description: 'A repeat with other content than the delivery of the return that counts.',
    }),
    products: Type.Array(Type.Object({ gtin: Type.String(), quantity: int32() }), {
      description: 'The first of them.',
    }),
  },
  { title: 'ReturnDelivery' }
)

const explainedLineSchema = Type.Object(
  {
    ...purchasedLine,
    remainingQuantity: int32({ description: 'After what was sent back.' }),
    remainingValue: exactAmount('Price × the quantity that remains; this is what is credited.'),
    credits: byProfile(nullOr(creditSchema)),
    candidates: Type.Array(candidateSchema, { description: 'Winners first, then the newest.' }),
    candidatesLeftOut: count('Touchpoints that are not listed.'),
  },
  { title: 'ExplainedLine' }
)

export const explanationSchema = Type.Object(
  {
    publisherId: int32(),
    transactionId: Type.String(),
    deliveries: Type.Array(deliverySchema, { description: 'The earliest first.' }),
    deliveriesLeftOut: count('Deliveries that are not listed.'),
    returns: Type.Array(returnSchema, { description: 'The earliest first.' }),
    returnsLeftOut: count('Deliveries of returns that are not listed; they count all the same.'),
    countedDeliveryId: nullOr(deliveryIdText('Null where no delivery may count.')),
    ids: Type.Array(
      Type.Object({
        kind: idKind,
        touchpoints: count('Under this id in the 15 days up to the purchase.'),
        isCrowd: Type.Boolean({
          description: 'More than one person makes; then it joins nothing.',
        }),
      }),
      { description: 'The ids of the delivery that counts. Neither ids nor hashes are shown.' }
    ),
    lines: Type.Array(explainedLineSchema, { description: 'Of the delivery that counts.' }),
    linesLeftOut: count('Lines that are not listed.'),
    attribution: nullOr(
      Type.Object(
        {
          readAt: instantText({ description: 'When its reading began.' }),
          deliveryId: nullOr(deliveryIdText('The delivery that counted then.')),
          isFrozen: Type.Boolean({ description: 'By an erasure: never computed again.' }),
          creditedLines: count('Lines that some profile credits.'),
        },
        { title: 'StoredAttribution', description: 'What the reports use.' }
      )
    ),
    isPending: Type.Boolean({ description: 'A newer attribution is on its way.' }),
    isUpToDate: Type.Boolean({ description: 'What the reports use agrees with this explanation.' }),
  },
  { title: 'Explanation' }
)

const creditedTo = wordOf(['you', 'another', 'nobody'])

const ownLineSchema = Type.Object(
  {
    line: place,
    gtin: Type.String({ description: 'As the shop sent it.' }),
    quantity: int32({ description: 'The units that are credited, after returns.' }),
    value: exactAmount('What is credited, in the currency of the purchase, exact.'),
    credits: byProfile(
      Type.Object({
        creditedTo,
        credit: nullOr(Type.Object({ rule, ...touched, ...placedAd }, { title: 'OwnCredit' })),
      })
    ),
    candidates: Type.Array(Type.Object(candidate), {
      description:
        'Your own clicks and views of the product or its group that came before the purchase.',
    }),
    candidatesLeftOut: count('Of your own, not listed.'),
    otherAdvertisersCandidates: count('Touchpoints of others that might have earned the line.'),
  },
  { title: 'OwnCreditedLine' }
)

export const ownExplanationSchema = Type.Object(
  {
    publisherId: int32(),
    transactionId: Type.String(),
    purchasedAt: instantText(),
    currency: Type.String({ description: 'Of the purchase.' }),
    lines: Type.Array(ownLineSchema, {
      description: 'The lines that some profile credits to you.',
    }),
    linesLeftOut: count('Such lines that are not listed.'),
    readAt: instantText({ description: 'When the reading of the attribution began.' }),
    isPending: Type.Boolean({ description: 'A newer attribution is on its way.' }),
  },
  { title: 'OwnExplanation' }
)

export const voidRequestSchema = closed(
  Type.Object(
    {
      deliveryId: deliveryIdText('As the explanation lists it.'),
      reason: Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'For the audit: why it does not count.',
      }),
    },
    { title: 'VoidRequest' }
  )
)

export const voidResponseSchema = Type.Object(
  {
    deliveryId: deliveryIdText('The delivery that is void.'),
    voidedAt: instantText({ description: 'When it was voided first.' }),
    countedDeliveryId: nullOr(deliveryIdText('The delivery that counts now; null: none.')),
  },
  { title: 'VoidResponse' }
)

export type Explanation = Of<typeof explanationSchema>
export type OwnExplanation = Of<typeof ownExplanationSchema>
export type VoidResponse = Of<typeof voidResponseSchema>
export type CreditRule = (typeof creditRules)[number]
export type LossReason = (typeof lossReasons)[number]
export type DeliveryStanding = (typeof deliveryStandings)[number]

export const parseVoidRequest = compileParser(voidRequestSchema)
