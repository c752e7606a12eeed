// The bundle of `PUT /admin/v1/catalog`: shapes and bounds. References, currencies, time zones, address
// ranges and links are checked by the catalog, which can name what they should have pointed at.
import { Type } from 'typebox'
import { closed, knownFields } from './closed.ts'
import { creativeTypes } from './creative.ts'
import { catalogId, count, nameText, uuidText, wordOf, type Of } from './fields.ts'
import {
  adGroupTypes,
  locationNames,
  locationTypes,
  pagePositions,
  siteTypes,
} from './site-locations.ts'
import { compileParser, type Parsed } from './validate.ts'

/** More is no list that somebody has looked at. */
const landingHostsMax = 100

const active = Type.Optional(
  Type.Boolean({
    description: 'false: takes no new links or assets; past reports keep its name. Default true.',
  })
)
const ids = (description: string) => Type.Array(catalogId(), { description })
const copyText = () => Type.Optional(Type.String({ maxLength: 2_000 }))
const address = () => Type.String({ minLength: 1, maxLength: 2_048, format: 'uri' })

export const marketEntrySchema = Type.Object(
  {
    id: catalogId(),
    code: Type.String({ minLength: 1, maxLength: 60 }),
    currency: Type.String({ minLength: 3, maxLength: 3 }),
    timeZone: Type.String({ minLength: 1, maxLength: 60, description: 'IANA name.' }),
    active,
  },
  { title: 'MarketEntry' }
)

export const locationEntrySchema = Type.Object(
  {
    type: wordOf(locationTypes),
    location: wordOf(locationNames),
    pagePosition: Type.Optional(wordOf(pagePositions)),
    adGroupTypes: Type.Array(wordOf(adGroupTypes), {
      description: 'Which ad groups the location carries.',
    }),
  },
  { title: 'LocationEntry' }
)

export const siteEntrySchema = Type.Object(
  {
    id: catalogId(),
    name: nameText(),
    type: wordOf(siteTypes),
    marketIds: ids('The markets the site sells in.'),
    locations: Type.Optional(Type.Array(locationEntrySchema)),
    active,
  },
  { title: 'SiteEntry' }
)

export const publisherEntrySchema = Type.Object(
  {
    id: catalogId(),
    name: nameText(),
    conversionSources: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
        description: 'CIDR ranges its conversions come from; those from elsewhere do not count.',
      })
    ),
    landingHosts: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 260 }), {
        minItems: 1,
        maxItems: landingHostsMax,
        description:
          'Hosts that minted links may lead to; *.shop.example for all subdomains of shop.example. ' +
          'Any when absent.',
      })
    ),
    sites: Type.Optional(Type.Array(siteEntrySchema)),
    active,
  },
  { title: 'PublisherEntry' }
)

export const advertiserEntrySchema = Type.Object(
  {
    id: catalogId(),
    name: nameText(),
    access: Type.Optional(
      Type.Array(
        Type.Object({
          publisherId: catalogId(),
          marketIds: ids('The markets it may advertise in.'),
          siteIds: Type.Optional(ids('All sites of the publisher when absent.')),
        })
      )
    ),
    active,
  },
  { title: 'AdvertiserEntry' }
)

export const campaignEntrySchema = Type.Object(
  { id: catalogId(), advertiserId: catalogId(), name: nameText(), active },
  { title: 'CampaignEntry' }
)

export const adGroupEntrySchema = Type.Object(
  {
    id: catalogId(),
    campaignId: catalogId(),
    name: nameText(),
    type: wordOf(adGroupTypes),
    active,
  },
  { title: 'AdGroupEntry' }
)

export const productEntrySchema = Type.Object(
  {
    marketId: catalogId(),
    gtin: Type.String({ minLength: 1, maxLength: 60 }),
    title: nameText(),
    brand: Type.Optional(Type.String({ maxLength: 128 })),
    groupId: Type.Optional(Type.String({ maxLength: 60 })),
    active,
  },
  { title: 'ProductEntry' }
)

export const creativeSizeEntrySchema = Type.Object(
  { id: catalogId(), name: nameText(), width: catalogId(), height: catalogId(), active },
  { title: 'CreativeSizeEntry' }
)

export const assetEntrySchema = Type.Object(
  {
    id: uuidText(),
    advertiserId: catalogId(),
    fileName: nameText(),
    url: address(),
    width: catalogId(),
    height: catalogId(),
    type: wordOf(creativeTypes),
    altText: copyText(),
    backgroundColor: copyText(),
    callToAction: copyText(),
    adCopy: copyText(),
    link: Type.Optional(address()),
    active,
  },
  { title: 'AssetEntry' }
)

export const catalogBundleSchema = Type.Object(
  {
    markets: Type.Optional(Type.Array(marketEntrySchema)),
    publishers: Type.Optional(Type.Array(publisherEntrySchema)),
    advertisers: Type.Optional(Type.Array(advertiserEntrySchema)),
    campaigns: Type.Optional(Type.Array(campaignEntrySchema)),
    adGroups: Type.Optional(Type.Array(adGroupEntrySchema)),
    products: Type.Optional(Type.Array(productEntrySchema)),
    creativeSizes: Type.Optional(Type.Array(creativeSizeEntrySchema)),
    assets: Type.Optional(Type.Array(assetEntrySchema)),
  },
  { title: 'CatalogBundle', description: 'Entries to add or replace; all of them or none.' }
)

/** The bundle that is put: closed, which the one that is read back is not. */
export const catalogBundleInputSchema = {
  ...closed(catalogBundleSchema, { suffix: 'Input' }),
  title: 'CatalogBundleInput',
}

export const catalogResultSchema = Type.Object(
  {
    entries: count('Entries taken, products aside.'),
    products: count('Products taken.'),
    dryRun: Type.Optional(Type.Boolean({ description: 'true: only checked, nothing was stored.' })),
  },
  { title: 'CatalogResult' }
)

export type MarketEntry = Of<typeof marketEntrySchema>
export type LocationEntry = Of<typeof locationEntrySchema>
export type SiteEntry = Of<typeof siteEntrySchema>
export type PublisherEntry = Of<typeof publisherEntrySchema>
export type AdvertiserEntry = Of<typeof advertiserEntrySchema>
export type CampaignEntry = Of<typeof campaignEntrySchema>
export type AdGroupEntry = Of<typeof adGroupEntrySchema>
export type ProductEntry = Of<typeof productEntrySchema>
export type CreativeSizeEntry = Of<typeof creativeSizeEntrySchema>
export type AssetEntry = Of<typeof assetEntrySchema>
export type CatalogBundle = Of<typeof catalogBundleSchema>
export type CatalogResult = Of<typeof catalogResultSchema>

// An operator mends a bundle in one go, so far more faults are collected than for a live event.
export const parseCatalogBundle = compileParser(catalogBundleInputSchema, {
  messagesMax: 200,
  collectNodesMax: 100_000,
})

const parseStored = compileParser(catalogBundleSchema)

/** Entries as they are stored; older versions kept fields that they did not know. */
export function parseStoredBundle(value: unknown): Parsed<CatalogBundle> {
  const parsed = parseStored(value)
  return parsed.ok ? { ok: true, value: knownFields(catalogBundleSchema, parsed.value) } : parsed
}
