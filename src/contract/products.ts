// Products in bulk: one row of a merchant feed, what became of a feed, and the pages in which products
// are read back. The names of a row are those of the feed's columns.
import { Type } from 'typebox'
import { productEntrySchema } from './catalog-bundle.ts'
import { count, nameText, nullOr, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

export const feedRowSchema = Type.Object(
  {
    gtin: Type.String({ minLength: 1, maxLength: 60 }),
    title: nameText(),
    brand: Type.Optional(Type.String({ maxLength: 128 })),
    item_group_id: Type.Optional(Type.String({ maxLength: 60 })),
  },
  {
    title: 'FeedRow',
    description: 'A row of TSV or CSV under a header; other columns are ignored.',
  }
)

export const feedColumns = ['gtin', 'title', 'brand', 'item_group_id'] as const

export type FeedColumn = (typeof feedColumns)[number]

export const feedResultSchema = Type.Object(
  {
    taken: count('Rows that are stored, or would be.'),
    repeated: Type.Optional(
      count('Of the rows taken, those that a later row of the feed for the same product replaced.')
    ),
    refused: Type.Array(
      Type.Object({
        line: Type.Integer({ minimum: 1, description: 'Where the row begins; the header is 1.' }),
        messages: Type.Array(Type.String()),
      }),
      { description: 'The first 1000 of the refused rows, in order.' }
    ),
    refusedCount: count('All refused rows, listed or not.'),
    deactivated: Type.Optional(
      count('With replace: products that were active and that the feed does not name.')
    ),
    notReplaced: Type.Optional(
      Type.String({ description: 'With replace: why nothing was deactivated.' })
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'true: nothing was stored.' })),
  },
  { title: 'FeedResult' }
)

export const productPageSchema = Type.Object(
  {
    entries: Type.Array(productEntrySchema),
    next: nullOr(Type.String(), {
      description: 'What to ask for with after; null on the last page.',
    }),
  },
  { title: 'ProductPage' }
)

export type FeedResult = Of<typeof feedResultSchema>
export type ProductPage = Of<typeof productPageSchema>

export const parseFeedRow = compileParser(feedRowSchema)
