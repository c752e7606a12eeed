// Amounts that are missing from reports for want of a rate, and the question for them.
import { Type } from 'typebox'
import { pageLimits } from './catalog-pages.ts'
import { dateText, int32, type Immutable } from './fields.ts'

export const unconvertedLimits = {
  /** A quarter, both ends included. */
  daysMax: 92,
} as const

const count = (description: string) => Type.Integer({ minimum: 0, description })
const amount = (description: string) => Type.String({ description })

export const unconvertedPageSchema = Type.Object(
  {
    rows: Type.Array(
      Type.Object(
        {
          date: dateText({ description: "In the market's time zone." }),
          marketId: int32(),
          market: Type.Union([Type.String(), Type.Null()], {
            description:
              'Its code; null for a market that the catalog does not know, which has no currency either.',
          }),
          advertiserId: int32(),
          currency: Type.String({ description: 'That of the amounts.' }),
          impressions: count('Charged impressions without a rate.'),
          clicks: count('Charged clicks without a rate.'),
          spend: amount('What they cost together, exact, in the currency.'),
          lines: count('Credited lines of purchases without a rate.'),
          value: amount('What they are worth together, exact, in the currency.'),
        },
        { title: 'UnconvertedAmounts' }
      ),
      { description: 'By date, market, advertiser and currency.' }
    ),
    next: Type.Optional(
      Type.String({ description: 'The `after` of the next page; absent on the last one.' })
    ),
  },
  { title: 'UnconvertedPage' }
)

export const unconvertedQuerySchema = Type.Object({
  startDate: dateText({ description: "First day, in the market's time zone." }),
  endDate: dateText({
    description: `Last day, included; at most ${unconvertedLimits.daysMax} days in all.`,
  }),
  after: Type.Optional(
    Type.String({ maxLength: 64, description: 'The `next` of the page before.' })
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageLimits.max,
      description: `Rows per page, ${pageLimits.default} when absent.`,
    })
  ),
})

export type UnconvertedPage = Immutable<Type.Static<typeof unconvertedPageSchema>>
export type UnconvertedRow = UnconvertedPage['rows'][number]
