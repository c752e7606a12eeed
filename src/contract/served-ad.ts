// What is known of one served ad: the question with a tracking link, and the answer for operators.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import { byProfile, creditRules } from './explanation.ts'
import { count, instantText, int32, nullOr, uuidText, wordOf, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

export const servedAdLimits = {
  /** 16 KiB: a token has at most 5,462 characters, and every one of them may be escaped. */
  linkLengthMax: 16_384,
  /** Lines; the first purchases come first. */
  creditsMax: 100,
} as const

/** `nobody` is text that names no person, such as `anonymous`: it joins nothing. */
export const carriedIds = ['absent', 'nobody', 'present'] as const

export const readLinkRequestSchema = closed(
  Type.Object(
    {
      link: Type.String({
        minLength: 1,
        maxLength: servedAdLimits.linkLengthMax,
        description:
          'A tracking link of any host, of which the part behind `/impression/`, `/click/` or `/load/` is ' +
          'taken, with or without percent escapes; or the tracking data alone.',
      }),
    },
    { title: 'ReadLinkRequest' }
  )
)

const costText = Type.String({ description: 'Exact, in the currency.' })
const carriedId = wordOf(carriedIds, {
  description: 'Whether there is one; `nobody`: text that names no person. Never the id itself.',
})

const servedAdSchema = Type.Object(
  {
    servedAdId: uuidText(),
    servedAt: instantText(),
    keyId: Type.String({ description: 'The tracking key that sealed it: 8 hex digits.' }),
    publisherId: int32(),
    siteId: int32(),
    marketId: int32(),
    advertiserId: int32(),
    campaignId: int32(),
    adGroupId: int32(),
    gtin: Type.String({ description: 'The advertised product, as the ad spells it.' }),
    groupId: Type.String({ description: 'Empty for none.' }),
    currency: Type.String(),
    costPerClick: costText,
    costPerMille: costText,
    landingUrl: Type.String({ description: 'As text; empty for none.' }),
    userId: carriedId,
    userLoggedInId: carriedId,
  },
  { title: 'ServedAd', description: 'What the tracking data says.' }
)

const catalogName = nullOr(Type.String())

const namesSchema = Type.Object(
  {
    publisher: catalogName,
    site: catalogName,
    market: catalogName,
    advertiser: catalogName,
    campaign: catalogName,
    adGroup: catalogName,
  },
  {
    title: 'ServedAdNames',
    description: 'As the catalog has them now, of a market its code; null: not in the catalog.',
  }
)

const receivedEventSchema = Type.Object(
  {
    kind: wordOf(['load', 'impression', 'click']),
    verdict: wordOf(['counted', 'early', 'expired', 'bot', 'prefetch', 'too-late']),
    receivedAt: instantText(),
  },
  { title: 'ReceivedEvent' }
)

const adCreditSchema = Type.Object(
  {
    publisherId: int32(),
    transactionId: Type.String(),
    purchasedAt: instantText(),
    line: Type.Integer({ minimum: 1, description: 'The place in the order; the first is 1.' }),
    quantity: int32({ description: 'The units that are credited, after returns.' }),
    value: Type.String({
      description: 'What is credited, exact, in the currency of the purchase.',
    }),
    currency: Type.String({ description: 'Of the purchase.' }),
    rules: byProfile(nullOr(wordOf(creditRules))),
  },
  {
    title: 'AdCredit',
    description:
      'By which rule the ad has the line, in each profile; null: in that one it does not.',
  }
)

export const servedAdReadingSchema = Type.Object(
  {
    ad: servedAdSchema,
    names: namesSchema,
    countsFrom: instantText({ description: 'What comes before this is too early to count.' }),
    viewsCountUntil: instantText({ description: 'The last instant for loads and impressions.' }),
    clicksCountUntil: instantText({ description: 'The last instant for a click.' }),
    events: Type.Array(receivedEventSchema, {
      description:
        'The earliest one of each kind and verdict, by receipt. Repeats are not kept, so they are not told.',
    }),
    credits: Type.Array(adCreditSchema, {
      description: 'Lines that reports credit to the ad, by purchase.',
    }),
    creditsLeftOut: count('Such lines that are not listed.'),
    creditedPurchases: count('Purchases with such a line, listed or not.'),
    isFinal: Type.Boolean({
      description: 'The day of serving is final: what came of it may have been dropped since.',
    }),
  },
  { title: 'ServedAdReading' }
)

export type ServedAdReading = Of<typeof servedAdReadingSchema>
export type CarriedId = (typeof carriedIds)[number]

export const parseReadLinkRequest = compileParser(readLinkRequestSchema)
