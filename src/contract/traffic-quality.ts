// Counted and not counted events of an advertiser, by day, market, publisher and kind.
import { Type } from 'typebox'
import { dateText, int32 } from './fields.ts'
import { reportLimits } from './report-request.ts'

export const trafficQualityLimits = {
  /** As of the performance report, both ends included. */
  daysMax: 731,
} as const

export const trafficQualityColumns = [
  'DATE',
  'MARKET',
  'PUBLISHER_ID',
  'PUBLISHER_NAME',
  'KIND',
  'COUNTED',
  'BOT',
  'PREFETCH',
  'EXPIRED',
  'EARLY',
  'TOO_LATE',
] as const

export const trafficQualityQuerySchema = Type.Object({
  startDate: dateText({ description: "First day, in the market's time zone." }),
  endDate: dateText({
    description: `Last day, included; at most ${trafficQualityLimits.daysMax} days in all.`,
  }),
  page: Type.Optional(int32({ minimum: 0, maximum: reportLimits.pageMax })),
  limit: Type.Optional(int32({ minimum: 1, maximum: reportLimits.limitMax })),
})
