import { Type } from 'typebox'
import { dateText, flag, instantText, list, named, nullOr, text, type Of } from './fields.ts'

/** Open, because columns may be appended: by column name, as printed. */
const reportRowSchema = Type.Unsafe<Record<string, string | null>>(
  Type.Object({}, { additionalProperties: nullOr(Type.String()) })
)

/** The fields of both answers about the days that they cover. */
const coverage = {
  completeThrough: nullOr(
    dateText(),
    'The last day from which on back the figures are sealed; null if there is none.'
  ),
  renewingDays: list(
    dateText(),
    'Days that input has reached since they were sealed, oldest first: they are sealed again soon.'
  ),
  unconverted: Type.Integer({
    description: 'Amounts, over all pages, that are missing for want of an exchange rate.',
  }),
}

export const reportJsonSchema = named('SpaProductReport', {
  rows: list(reportRowSchema, 'By column name, amounts exactly; null for a ratio over zero.'),
  totals: list(reportRowSchema, "Exact sums of the page's rows, by currency."),
  page: Type.Integer(),
  limit: Type.Integer(),
  totalRows: Type.Integer({ description: 'Rows of the whole report, over all pages.' }),
  ...coverage,
})

export const reportSeriesSchema = named('SpaProductSeries', {
  days: list(
    reportRowSchema,
    'By DATE, then CURRENCY: exact sums of the rows of the report with dateBreakdown, and ORDERS, the ' +
      'distinct purchases behind them; null where these are no longer known. Days without a row are left ' +
      'out.'
  ),
  totals: list(
    reportRowSchema,
    'By CURRENCY: the sums of the days, which are those of the report over all pages.'
  ),
  ...coverage,
})

export const sealedDaysSchema = named('SealedDays', {
  days: list(
    Type.Object({
      day: dateText("In the market's time zone."),
      market: nullOr(Type.String(), 'Its code; null for markets that the catalog does not know.'),
      revision: text("Names the day's figures: another one when they were computed again."),
      sealedAt: instantText(),
    }),
    'The oldest seal first; at least 5000 after `since`, if there are so many.'
  ),
  hasMore: flag('Whether there are later ones; ask again with the last `sealedAt`.'),
})

export type JsonReport = Of<typeof reportJsonSchema>
export type JsonSeries = Of<typeof reportSeriesSchema>
export type SealedDays = Of<typeof sealedDaysSchema>
