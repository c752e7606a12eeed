// What a key may do and whom it is for, and what the catalog holds of one advertiser.
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
import { disbeliefs } from './explanation.ts'
import {
  catalogId,
  flag,
  instantText,
  list,
  named,
  nullOr,
  text,
  wordOf,
  type Of,
} from './fields.ts'

const partySchema = Type.Object({
  id: catalogId(),
  name: nullOr(Type.String(), 'Null while the catalog does not know the id.'),
})

const partiesSchema = Type.Union([Type.Literal('all'), Type.Array(partySchema)])

/** A key of more publishers belongs to an operator. */
export const outlooksMax = 1_000

export const meSchema = named('Me', {
  name: text('Of the key, for people.'),
  signOn: flag(
    'Whether the sign-on of a proxy named the caller; then `name` is the e-mail address.'
  ),
  scopes: list(wordOf(scopes), 'admin stands for every other one.'),
  advertisers: partiesSchema,
  publishers: partiesSchema,
  deliveries: list(
    named('DeliveryOutlook', {
      publisherId: catalogId(),
      judgedAs: wordOf(
        ['valid', ...disbeliefs],
        'What a delivery with this key would be judged as if it came now, from the address of this call.'
      ),
      requiresKey: flag('Whether deliveries of the publisher count only with a key.'),
      hasSources: flag('Whether they count only from listed addresses.'),
    }),
    `By publisher of the key; the first ${outlooksMax} for a key of all publishers.`
  ),
  expiresAt: nullOr(instantText(), 'Null: never.'),
})

export type Me = Of<typeof meSchema>

/** Limit per list. Advertisers with more entries use the API and already know their ids. */
export const accountEntriesMax = 5_000

export const advertiserAccountSchema = named('AdvertiserAccount', {
  id: catalogId(),
  name: Type.String(),
  markets: list(marketEntrySchema, 'All markets of the catalog.'),
  publishers: list(
    Type.Object({
      id: catalogId(),
      name: Type.String(),
      marketIds: list(catalogId(), 'Where the advertiser may advertise.'),
    }),
    'Those the advertiser has access to.'
  ),
  campaigns: Type.Array(campaignEntrySchema),
  adGroups: Type.Array(adGroupEntrySchema),
  creativeSizes: Type.Array(creativeSizeEntrySchema),
  assets: Type.Array(assetEntrySchema),
  assignments: list(
    assignmentEntrySchema,
    'Which asset an ad group advertises in which creative size.'
  ),
  isWhole: flag(`false: of some kind only the first ${accountEntriesMax} entries are listed.`),
})

export type AdvertiserAccount = Of<typeof advertiserAccountSchema>
