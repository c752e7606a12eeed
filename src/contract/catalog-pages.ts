// The catalog read back page by page, one kind of entry at a time.
import { Type } from 'typebox'
import {
  adGroupEntrySchema,
  advertiserEntrySchema,
  assetEntrySchema,
  campaignEntrySchema,
  creativeSizeEntrySchema,
  marketEntrySchema,
  publisherEntrySchema,
} from './catalog-bundle.ts'
import { catalogId, nullOr, uuidText } from './fields.ts'

export const pageKinds = [
  'markets',
  'publishers',
  'advertisers',
  'campaigns',
  'ad-groups',
  'creative-sizes',
  'assets',
  'assignments',
] as const

export type PageKind = (typeof pageKinds)[number]

export const assignmentEntrySchema = Type.Object(
  { adGroupId: catalogId(), creativeSizeId: catalogId(), assetId: uuidText() },
  { title: 'AssignmentEntry', description: 'The asset an ad group advertises in a creative size.' }
)

export const catalogPageSchema = Type.Object(
  {
    entries: Type.Array(
      Type.Union([
        marketEntrySchema,
        publisherEntrySchema,
        advertiserEntrySchema,
        campaignEntrySchema,
        adGroupEntrySchema,
        creativeSizeEntrySchema,
        assetEntrySchema,
        assignmentEntrySchema,
      ]),
      { description: 'Of the kind asked for, by ascending id.' }
    ),
    next: nullOr(Type.String(), {
      description: 'What to ask for with after; null on the last page.',
    }),
  },
  { title: 'CatalogPage' }
)
