/** Readers find columns by position too, so the order never changes and new columns go to the end. */
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
