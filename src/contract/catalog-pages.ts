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
import { catalogId, list, named, nullOr, uuidText } from './fields.ts'

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

export const catalogPageSchema = named('CatalogPage', {
  entries: list(
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
    'Entries of the kind in the path, by ascending id.'
  ),
  next: nullOr(Type.String(), 'What to ask for with after; null on the last page.'),
})
