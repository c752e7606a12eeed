// Which days were sealed, or sealed again, since a moment.
import { Type } from 'typebox'
import { dateText, instantText, type Immutable } from './fields.ts'

export const sealedDaysQuerySchema = Type.Object({
  since: Type.Optional(
    instantText({
      description:
        'Only days sealed after this instant, and in the minute before; absent: all. Ask the next time with ' +
        'the last `sealedAt`, and skip revisions you have.',
    })
  ),
})

export const sealedDaysSchema = Type.Object(
  {
    days: Type.Array(
      Type.Object({
        day: dateText({ description: "In the market's time zone." }),
        market: Type.Union([Type.String(), Type.Null()], {
          description: 'Its code; null for markets that the catalog does not know.',
        }),
        revision: Type.String({
          description: "Names the day's figures: another one when they were computed again.",
        }),
        sealedAt: instantText(),
      }),
      { description: 'The oldest seal first; at least 5000 after `since`, if there are so many.' }
    ),
    hasMore: Type.Boolean({
      description: 'Whether there are later ones; ask again with the last `sealedAt`.',
    }),
  },
  { title: 'SealedDays' }
)

export type SealedDays = Immutable<Type.Static<typeof sealedDaysSchema>>
