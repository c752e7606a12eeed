import { Type } from 'typebox'
import { dateText, type Immutable } from './fields.ts'
import { reportRowSchema } from './report-json.ts'

export const reportSeriesSchema = Type.Object(
  {
    days: Type.Array(reportRowSchema, {
      description:
        'By DATE, then CURRENCY: exact sums of the rows of the report with dateBreakdown, and ORDERS, the ' +
        'distinct purchases behind them; null where these cannot be told any more. Days without a row are ' +
        'left out.',
    }),
    totals: Type.Array(reportRowSchema, {
      description:
        'By CURRENCY: the sums of the days, which are those of the report over all pages.',
    }),
    completeThrough: Type.Union([dateText(), Type.Null()], {
      description: 'The last day from which on back the figures are sealed; null if there is none.',
    }),
    renewingDays: Type.Array(dateText(), {
      description:
        'Days that input has reached since they were sealed, oldest first: they are sealed again soon.',
    }),
    unconverted: Type.Integer({
      description: 'Amounts that are missing for want of an exchange rate.',
    }),
  },
  { title: 'SpaProductSeries' }
)

export type JsonSeries = Immutable<Type.Static<typeof reportSeriesSchema>>
