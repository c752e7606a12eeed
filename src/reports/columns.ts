/** What a report can be ordered by, in the order of the contract's `orderBy` list. */
export const orderByColumns = [
  'GTIN',
  'PRODUCT_TITLE',
  'BRAND',
  'MARKET',
  'PUBLISHER_ID',
  'PUBLISHER_NAME',
  'CAMPAIGN_ID',
  'CAMPAIGN_NAME',
  'AD_GROUP_ID',
  'AD_GROUP_NAME',
  'DATE',
  'IMPRESSIONS',
  'CLICKS',
  'LOADS',
  'CONVERSIONS',
  'UNITS_SOLD',
  'CLICK_THROUGH_RATE',
  'CONVERSION_RATE',
  'CONVERSION_VALUE',
  'AD_SPEND_REVENUE',
  'COST_PER_CLICK',
  'RETURN_ON_AD_SPEND',
] as const

export type OrderByColumn = (typeof orderByColumns)[number]

/** Readers find columns by position too, so the order never changes and new columns go to the end. */
export const reportColumns = [...orderByColumns, 'CURRENCY'] as const

export type Column = (typeof reportColumns)[number]

const columnsWithoutDate = reportColumns.filter((column) => column !== 'DATE')

/** The columns of one report: a date stands in a row only when the report is broken down by it. */
export function listColumns(query: { readonly dateBreakdown: boolean }): readonly Column[] {
  return query.dateBreakdown ? reportColumns : columnsWithoutDate
}
