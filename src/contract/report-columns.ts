// The columns of the CSV files. Readers find columns by position too, so the order never changes and new
// columns go to the end.
import { orderByColumns } from './report-request.ts'

export const reportColumns = [...orderByColumns, 'CURRENCY'] as const

export type Column = (typeof reportColumns)[number]

const columnsWithoutDate = reportColumns.filter((column) => column !== 'DATE')

/** The columns of one report; DATE is a column only with `dateBreakdown`. */
export function listColumns(query: { readonly dateBreakdown: boolean }): readonly Column[] {
  return query.dateBreakdown ? reportColumns : columnsWithoutDate
}

export const attributionColumns = [
  'DATE',
  'PURCHASED_AT',
  'MARKET',
  'PUBLISHER_ID',
  'PUBLISHER_NAME',
  'TRANSACTION_ID',
  'LINE',
  'PURCHASED_GTIN',
  'CAMPAIGN_ID',
  'AD_GROUP_ID',
  'ADVERTISED_GTIN',
  'RULE',
  'TOUCHED_AT',
  'SECONDS_TO_PURCHASE',
  'UNITS',
  'CONVERSION_VALUE',
  'CURRENCY',
  'SERVED_AD_ID',
] as const

export type AttributionColumn = (typeof attributionColumns)[number]

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
  'NO_USER_AGENT',
  'DATA_CENTRE',
  'BOT_RATE',
  'PREFETCH_RATE',
  'EXPIRED_RATE',
  'EARLY_RATE',
  'TOO_LATE_RATE',
  'NO_USER_AGENT_RATE',
  'DATA_CENTRE_RATE',
] as const
