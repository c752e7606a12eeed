// The bundle of `PUT /admin/v1/catalog`: shapes and bounds. References, currencies, time zones, address
// ranges and links are checked by the catalog, which can name what they should have pointed at.
import { Type } from 'typebox'
import { siteTypes } from '../domain/site-type.ts'
import { closed, knownFields } from './closed.ts'
import { creativeTypes } from './creative.ts'
import {
  catalogId,
  decimalText,
  count,
  flag,
  list,
  nameText,
  named,
  nullOr,
  optional,
  uuidText,
  wordOf,
  type Of,
} from './fields.ts'
import { adGroupTypes, locationNames, locationTypes, pagePositions } from './site-locations.ts'
import { compileParser, type Parsed } from './validate.ts'

/** More is no list that somebody has looked at. */
const landingHostsMax = 100

const active = optional(
  flag('false: takes no new links or assets; past reports keep its name. Default true.')
)
const ids = (description: string) => Type.Array(catalogId(), { description })
const copyText = () => optional(Type.String({ maxLength: 2_000 }))
const address = () => Type.String({ minLength: 1, maxLength: 2_048, format: 'uri' })

function priceBound(what: string) {
  return nullOr(
    decimalText({}),
    `The highest ${what} of an ad in the market, in the currency of the market; events of an ad above it are ` +
      'set aside. What stands when absent, none when null.'
  )
}

export const marketEntrySchema = named('MarketEntry', {
  id: catalogId(),
  code: Type.String({ minLength: 1, maxLength: 60 }),
  currency: Type.String({ minLength: 3, maxLength: 3 }),
  timeZone: Type.String({ minLength: 1, maxLength: 60, description: 'IANA name.' }),
  costPerClickMax: optional(priceBound('cost per click')),
  costPerMilleMax: optional(priceBound('cost per mille')),
  active,
})

export const locationEntrySchema = named('LocationEntry', {
  type: wordOf(locationTypes),
  location: wordOf(locationNames),
  pagePosition: optional(wordOf(pagePositions)),
  adGroupTypes: list(wordOf(adGroupTypes), 'Which ad groups the location carries.'),
})

export const siteEntrySchema = named('SiteEntry', {
  id: catalogId(),
  name: nameText(),
  type: wordOf(siteTypes),
  marketIds: ids('The markets the site sells in.'),
  locations: optional(Type.Array(locationEntrySchema)),
  active,
})

export const publisherEntrySchema = named('PublisherEntry', {
  id: catalogId(),
  name: nameText(),
  conversionSources: optional(
    list(
      Type.String({ minLength: 1, maxLength: 60 }),
      'CIDR ranges its conversions come from; those from elsewhere do not count. Kept when absent; ' +
        '[] lifts the limit.'
    )
  ),
  requireKey: optional(
    flag(
      'true: its conversions and returns count only with a key of the scope delivery:write. ' +
        'Kept when absent; SHELFTRACE_REQUIRE_DELIVERY_KEY decides while it was never said.'
    )
  ),
  landingHosts: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 260 }), {
      minItems: 1,
      maxItems: landingHostsMax,
      description:
        'Hosts that minted links may lead to; *.shop.example for all subdomains of shop.example. ' +
        'Any when absent.',
    })
  ),
  firesFromBackend: optional(
    flag(
      'true: its backend fires the links for its shoppers, so user agent and network of the caller ' +
        'decide nothing. Default false.'
    )
  ),
  sites: optional(Type.Array(siteEntrySchema)),
  active,
})

export const advertiserEntrySchema = named('AdvertiserEntry', {
  id: catalogId(),
  name: nameText(),
  access: optional(
    Type.Array(
      Type.Object({
        publisherId: catalogId(),
        marketIds: ids('The markets it may advertise in.'),
        siteIds: optional(ids('All sites of the publisher when absent.')),
      })
    )
  ),
  active,
})

export const campaignEntrySchema = named('CampaignEntry', {
  id: catalogId(),
  advertiserId: catalogId(),
  name: nameText(),
  active,
})

export const adGroupEntrySchema = named('AdGroupEntry', {
  id: catalogId(),
  campaignId: catalogId(),
  name: nameText(),
  type: wordOf(adGroupTypes),
  active,
})

export const productEntrySchema = named('ProductEntry', {
  marketId: catalogId(),
  gtin: Type.String({ minLength: 1, maxLength: 60 }),
  title: nameText(),
  brand: optional(Type.String({ maxLength: 128 })),
  groupId: optional(Type.String({ maxLength: 60 })),
  active,
})

export const creativeSizeEntrySchema = named('CreativeSizeEntry', {
  id: catalogId(),
  name: nameText(),
  width: catalogId(),
  height: catalogId(),
  active,
})

export const assetEntrySchema = named('AssetEntry', {
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
  link: optional(address()),
  active,
})

export const catalogBundleSchema = Type.Object(
  {
    markets: optional(Type.Array(marketEntrySchema)),
    publishers: optional(Type.Array(publisherEntrySchema)),
    advertisers: optional(Type.Array(advertiserEntrySchema)),
    campaigns: optional(Type.Array(campaignEntrySchema)),
    adGroups: optional(Type.Array(adGroupEntrySchema)),
    products: optional(Type.Array(productEntrySchema)),
    creativeSizes: optional(Type.Array(creativeSizeEntrySchema)),
    assets: optional(Type.Array(assetEntrySchema)),
  },
  { title: 'CatalogBundle', description: 'Entries to add or replace; all of them or none.' }
)

/** The bundle that is put: closed, which the one that is read back is not. */
export const catalogBundleInputSchema = {
  ...closed(catalogBundleSchema, { suffix: 'Input' }),
  title: 'CatalogBundleInput',
}

const trustSchema = Type.Object({
  conversionSources: list(Type.String(), 'Empty: from anywhere.'),
  requireKey: nullOr(Type.Boolean(), 'Null: SHELFTRACE_REQUIRE_DELIVERY_KEY decides.'),
})

export const catalogResultSchema = named('CatalogResult', {
  entries: count('Entries taken, products aside.'),
  products: count('Products taken.'),
  trustChanges: optional(
    list(
      named('TrustChange', {
        publisherId: catalogId(),
        before: trustSchema,
        after: trustSchema,
      }),
      'Publishers whose deliveries are believed by other rules than before; absent if there are none.'
    )
  ),
  dryRun: optional(flag('true: only checked, nothing was stored.')),
})

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
export type TrustChange = NonNullable<CatalogResult['trustChanges']>[number]
export type Trust = TrustChange['before']

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
