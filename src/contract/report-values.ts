// Which values a filter can have: for pages that offer them while someone types.
import { Type } from 'typebox'
import { flag, list, named, optional, text, wordOf, type Of } from './fields.ts'
import { reportRange } from './report-request.ts'

export const valueFields = [
  'BRAND',
  'GTIN',
  'CAMPAIGN_ID',
  'AD_GROUP_ID',
  'PUBLISHER_ID',
  'MARKET',
] as const

export type ValueField = (typeof valueFields)[number]

export const valuesMax = 50

export const valuesQuerySchema = Type.Object({
  ...reportRange,
  field: wordOf(valueFields, { description: 'The field of the filter.' }),
  q: optional(
    Type.String({
      maxLength: 200,
      description: 'A part of the name, the id or the GTIN, in any case. All when absent or empty.',
    })
  ),
})

export const reportValuesSchema = named('SpaReportValues', {
  values: list(
    Type.Object({
      value: text('For `values` of the filter.'),
      name: text('Of the product, campaign and so on; empty if the catalog does not have it.'),
      of: text('The brand of a product, the campaign of an ad group; else empty.'),
    }),
    `Those with figures in the range, the ones that cost most first; at most ${valuesMax}.`
  ),
  hasMore: flag('Whether there are more: a longer `q` finds them.'),
})

export type ValuesQuery = Of<typeof valuesQuerySchema>
export type ReportValues = Of<typeof reportValuesSchema>
