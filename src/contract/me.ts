// What a key may do and whom it is for, asked with the key itself.
import { Type } from 'typebox'
import { scopes } from './admin.ts'
import {
  adGroupEntrySchema,
  assetEntrySchema,
  campaignEntrySchema,
  creativeSizeEntrySchema,
  marketEntrySchema,
} from './catalog-bundle.ts'
import { assignmentEntrySchema } from './catalog-pages.ts'
import { catalogId, instantText, nullOr, wordOf, type Of } from './fields.ts'

const partySchema = Type.Object({
  id: catalogId(),
  name: nullOr(Type.String(), {
    description: 'Null while the catalog does not know the id.',
  }),
})

const partiesSchema = Type.Union([Type.Literal('all'), Type.Array(partySchema)])

export const meSchema = Type.Object(
  {
    name: Type.String({ description: 'Of the key, for people.' }),
    scopes: Type.Array(wordOf(scopes), { description: 'admin stands for every other one.' }),
    advertisers: partiesSchema,
    publishers: partiesSchema,
    expiresAt: nullOr(instantText(), { description: 'Null: never.' }),
  },
  { title: 'Me' }
)

export type Me = Of<typeof meSchema>

/** Of each kind; an advertiser with more is rather one of an integration that has the ids anyway. */
export const accountEntriesMax = 5_000

export const advertiserAccountSchema = Type.Object(
  {
    id: catalogId(),
    name: Type.String(),
    markets: Type.Array(marketEntrySchema, { description: 'All markets of the catalog.' }),
    publishers: Type.Array(
      Type.Object({
        id: catalogId(),
        name: Type.String(),
        marketIds: Type.Array(catalogId(), { description: 'Where the advertiser may advertise.' }),
      }),
      { description: 'Those the advertiser has access to.' }
    ),
    campaigns: Type.Array(campaignEntrySchema),
    adGroups: Type.Array(adGroupEntrySchema),
    creativeSizes: Type.Array(creativeSizeEntrySchema),
    assets: Type.Array(assetEntrySchema),
    assignments: Type.Array(assignmentEntrySchema, {
      description: 'Which asset an ad group advertises in which creative size.',
    }),
    isWhole: Type.Boolean({
      description: `false: of some kind only the first ${accountEntriesMax} entries are listed.`,
    }),
  },
  { title: 'AdvertiserAccount' }
)

export type AdvertiserAccount = Of<typeof advertiserAccountSchema>
