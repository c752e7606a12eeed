// Amounts that are missing from reports for want of a rate, and the question for them.
import { Type } from 'typebox'
import {
  afterParameter,
  count,
  dateRange,
  dateText,
  int32,
  limitParameter,
  list,
  named,
  next,
  nullOr,
  text,
  type Of,
} from './fields.ts'

export const unconvertedLimits = {
  /** A quarter, both ends included. */
  daysMax: 92,
} as const

const amount = (description: string) => Type.String({ description })

export const unconvertedPageSchema = named('UnconvertedPage', {
  rows: list(
    named('UnconvertedAmounts', {
      date: dateText("In the market's time zone."),
      marketId: int32(),
      market: nullOr(
        Type.String(),
        'Its code; null for a market that the catalog does not know, which has no currency either.'
      ),
      advertiserId: int32(),
      currency: text('That of the amounts.'),
      impressions: count('Charged impressions without a rate.'),
      clicks: count('Charged clicks without a rate.'),
      spend: amount('What they cost together, exact, in the currency.'),
      lines: count('Credited lines of purchases without a rate.'),
      value: amount('What they are worth together, exact, in the currency.'),
    }),
    'By date, market, advertiser and currency.'
  ),
  next,
})

export const unconvertedQuerySchema = Type.Object({
  ...dateRange({ zone: "the market's time zone", daysMax: unconvertedLimits.daysMax }),
  after: afterParameter({ pattern: String.raw`^\d{4}-\d\d-\d\d_\d{1,10}_\d{1,10}_[A-Z]{0,3}$` }),
  limit: limitParameter,
})

export type UnconvertedPage = Of<typeof unconvertedPageSchema>
export type UnconvertedRow = UnconvertedPage['rows'][number]
