// Ids that events and purchases name and the catalog does not have.
import { Type } from 'typebox'
import { count, flag, int32, named, optional, wordOf, type Of } from './fields.ts'

export const unknownIdsMax = 1_000

export const unknownIdKinds = [
  'market',
  'publisher',
  'site',
  'advertiser',
  'campaign',
  'ad-group',
] as const

export const unknownIdsSchema = named('UnknownIds', {
  ids: Type.Array(
    named('UnknownId', {
      kind: wordOf(unknownIdKinds),
      id: int32(),
      parentId: optional(
        int32(
          'The entry it belongs to: the publisher of a site, the advertiser of a campaign, the campaign ' +
            'of an ad group.'
        )
      ),
      events: count('Loads, impressions and clicks that name it, counted or not.'),
      conversions: optional(
        count('Conversions that name it, repeats too. Of publishers and sites only.')
      ),
    }),
    { maxItems: unknownIdsMax, description: 'Most events and conversions first.' }
  ),
  total: count('All such ids, listed or not.'),
  complete: flag(
    'false: so many different ids were named that those named least were not looked at.'
  ),
})

export type UnknownIds = Of<typeof unknownIdsSchema>
export type UnknownId = UnknownIds['ids'][number]
