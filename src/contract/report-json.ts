import { Type } from 'typebox'
import { dateText, type Immutable } from './fields.ts'

const text = Type.String()

/** Open, because columns may be appended: by column name, as printed. */
export const reportRowSchema = Type.Unsafe<Record<string, string | null>>(
  Type.Object({}, { additionalProperties: Type.Union([text, Type.Null()]) })
)

export const reportJsonSchema = Type.Object(
  {
    rows: Type.Array(reportRowSchema, {
      description: 'By column name, amounts exactly; null for a ratio over zero.',
    }),
    totals: Type.Array(reportRowSchema, {
      description: "Exact sums of the page's rows, by currency.",
    }),
    page: Type.Integer(),
    limit: Type.Integer(),
    totalRows: Type.Integer({ description: 'Rows of the whole report, over all pages.' }),
    completeThrough: Type.Union([dateText(), Type.Null()], {
      description: 'The last day from which on back the figures are sealed; null if there is none.',
    }),
    renewingDays: Type.Array(dateText(), {
      description:
        'Days that input has reached since they were sealed, oldest first: they are sealed again soon.',
    }),
    unconverted: Type.Integer({
      description: 'Amounts of all pages that are missing for want of an exchange rate.',
    }),
  },
  { title: 'SpaProductReport' }
)

export type JsonReport = Immutable<Type.Static<typeof reportJsonSchema>>
