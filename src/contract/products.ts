// Products in bulk: one row of a merchant feed, what became of a feed, and the pages in which products
// are read back. The names of a row are those of the feed's columns.
import { Type } from 'typebox'
import { productEntrySchema } from './catalog-bundle.ts'
import { count, flag, list, nameText, named, nullOr, optional, text, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

export const feedRowSchema = Type.Object(
  {
    gtin: Type.String({ minLength: 1, maxLength: 60 }),
    title: nameText(),
    brand: optional(Type.String({ maxLength: 128 })),
    item_group_id: optional(Type.String({ maxLength: 60 })),
  },
  {
    title: 'FeedRow',
    description: 'A row of TSV or CSV under a header; other columns are ignored.',
  }
)

export const feedColumns = ['gtin', 'title', 'brand', 'item_group_id'] as const

export type FeedColumn = (typeof feedColumns)[number]

export const feedResultSchema = named('FeedResult', {
  taken: count('Rows that are stored, or would be.'),
  repeated: optional(
    count('Of the rows taken, those that a later row of the feed for the same product replaced.')
  ),
  refused: list(
    Type.Object({
      line: Type.Integer({ minimum: 1, description: 'Where the row begins; the header is 1.' }),
      messages: Type.Array(Type.String()),
    }),
    'The first 1000 of the refused rows, in order.'
  ),
  refusedCount: count('All refused rows, listed or not.'),
  deactivated: optional(
    count('With replace: products that were active and that the feed does not name.')
  ),
  notReplaced: optional(text('With replace: why nothing was deactivated.')),
  dryRun: optional(flag('true: nothing was stored.')),
})

export const productPageSchema = named('ProductPage', {
  entries: Type.Array(productEntrySchema),
  next: nullOr(Type.String(), 'What to ask for with after; null on the last page.'),
})

export type FeedResult = Of<typeof feedResultSchema>
export type ProductPage = Of<typeof productPageSchema>

export const parseFeedRow = compileParser(feedRowSchema)
