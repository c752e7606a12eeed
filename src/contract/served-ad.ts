// The facts about one served ad: the question with a tracking link, and the answer for operators.
import { Type } from 'typebox'
import { adEventVerdicts } from '../domain/ad-event-verdict.ts'
import { closed } from './closed.ts'
import { byProfile, creditRules } from './explanation.ts'
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

export const servedAdLimits = {
  /** 16 KiB: a token has at most 5,462 characters, and every one of them may be escaped. */
  linkLengthMax: 16_384,
  /** Lines; the first purchases come first. */
  creditsMax: 100,
} as const

/** `nobody` is text that names no person, such as `anonymous`: it joins nothing. */
export const carriedIds = ['absent', 'nobody', 'present'] as const

export const readLinkRequestSchema = closed(
  named('ReadLinkRequest', {
    link: Type.String({
      minLength: 1,
      maxLength: servedAdLimits.linkLengthMax,
      description:
        'A tracking link of any host, of which the part behind `/impression/`, `/click/` or `/load/` is ' +
        'taken, with or without percent escapes; or the tracking data alone.',
    }),
  })
)

const costText = text('Exact, in the currency.')
const carriedId = wordOf(
  carriedIds,
  'Whether there is one; `nobody`: text that names no person. Never the id itself.'
)

const servedAdSchema = Type.Object(
  {
    servedAdId: uuidText(),
    servedAt: instantText(),
    keyId: text('The tracking key that sealed it: 8 hex digits.'),
    publisherId: int32(),
    siteId: int32(),
    marketId: int32(),
    advertiserId: int32(),
    campaignId: int32(),
    adGroupId: int32(),
    gtin: text('The advertised product, as the ad spells it.'),
    groupId: text('Empty for none.'),
    currency: Type.String(),
    costPerClick: costText,
    costPerMille: costText,
    landingUrl: text('As text; empty for none.'),
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
    description:
      'The names in the current catalog, the code for a market; null: not in the catalog.',
  }
)

const receivedEventSchema = named('ReceivedEvent', {
  kind: wordOf(['load', 'impression', 'click']),
  verdict: wordOf(adEventVerdicts),
  receivedAt: instantText(),
  dataCentreList: optional(
    text('With `data-centre`: the version of the list of networks that decided.')
  ),
})

const adCreditSchema = Type.Object(
  {
    publisherId: int32(),
    transactionId: Type.String(),
    purchasedAt: instantText(),
    line: Type.Integer({ minimum: 1, description: 'The place in the order; the first is 1.' }),
    quantity: int32('The units that are credited, after returns.'),
    value: text('What is credited, exact, in the currency of the purchase.'),
    currency: text('Of the purchase.'),
    rules: byProfile(nullOr(wordOf(creditRules))),
  },
  {
    title: 'AdCredit',
    description:
      'By which rule the ad has the line, in each profile; null: in that one it does not.',
  }
)

export const servedAdReadingSchema = named('ServedAdReading', {
  ad: servedAdSchema,
  names: namesSchema,
  countsFrom: instantText('What comes before this is too early to count.'),
  viewsCountUntil: instantText('The last instant for loads and impressions.'),
  clicksCountUntil: instantText('The last instant for a click.'),
  events: list(
    receivedEventSchema,
    'The earliest one of each kind and verdict, by receipt. Repeats are not kept, so they are not told.'
  ),
  credits: list(adCreditSchema, 'Lines that reports credit to the ad, by purchase.'),
  creditsLeftOut: count('Such lines that are not listed.'),
  creditedPurchases: count('Purchases with such a line, listed or not.'),
  isFinal: flag('The day of serving is final: what came of it may have been dropped since.'),
})

export type ServedAdReading = Of<typeof servedAdReadingSchema>
export type CarriedId = (typeof carriedIds)[number]

export const parseReadLinkRequest = compileParser(readLinkRequestSchema)
