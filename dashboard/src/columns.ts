// A pure table of the columns of the report: their headings and how their figures are printed.
import type { Column } from '../../src/contract/report-columns.ts'
import type { OrderByColumn } from '../../src/contract/report-request.ts'
import {
  formatCount,
  formatMoney,
  formatPercent,
  formatPrice,
  formatRatio,
  nothing,
} from './format.ts'

export type Row = Readonly<Record<string, string | null>>
export type ColumnName = Exclude<Column, 'DATE'>

interface ColumnKind {
  readonly label: string
  readonly isFigure: boolean
  readonly print: (row: Row) => string
}

const text = (name: ColumnName, label: string): ColumnKind => ({
  label,
  isFigure: false,
  print: (row) => (row[name] === '' ? nothing : (row[name] ?? nothing)),
})
const count = (name: ColumnName, label: string): ColumnKind => ({
  label,
  isFigure: true,
  print: (row) => formatCount(row[name]),
})
const money = (name: ColumnName, label: string): ColumnKind => ({
  label,
  isFigure: true,
  print: (row) => formatMoney(row[name], row['CURRENCY']),
})
const percent = (name: ColumnName, label: string): ColumnKind => ({
  label,
  isFigure: true,
  print: (row) => formatPercent(row[name]),
})

export const columns: Readonly<Record<ColumnName, ColumnKind>> = {
  GTIN: text('GTIN', 'GTIN'),
  PRODUCT_TITLE: text('PRODUCT_TITLE', 'Product'),
  BRAND: text('BRAND', 'Brand'),
  MARKET: text('MARKET', 'Market'),
  PUBLISHER_ID: text('PUBLISHER_ID', 'Publisher ID'),
  PUBLISHER_NAME: text('PUBLISHER_NAME', 'Publisher'),
  CAMPAIGN_ID: text('CAMPAIGN_ID', 'Campaign ID'),
  CAMPAIGN_NAME: text('CAMPAIGN_NAME', 'Campaign'),
  AD_GROUP_ID: text('AD_GROUP_ID', 'Ad group ID'),
  AD_GROUP_NAME: text('AD_GROUP_NAME', 'Ad group'),
  IMPRESSIONS: count('IMPRESSIONS', 'Impressions'),
  CLICKS: count('CLICKS', 'Clicks'),
  LOADS: count('LOADS', 'Loads'),
  CONVERSIONS: count('CONVERSIONS', 'Conversions'),
  UNITS_SOLD: count('UNITS_SOLD', 'Units sold'),
  CLICK_THROUGH_RATE: percent('CLICK_THROUGH_RATE', 'CTR'),
  CONVERSION_RATE: percent('CONVERSION_RATE', 'Conversion rate'),
  CONVERSION_VALUE: money('CONVERSION_VALUE', 'Value'),
  AD_SPEND_REVENUE: money('AD_SPEND_REVENUE', 'Spend'),
  COST_PER_CLICK: {
    label: 'CPC',
    isFigure: true,
    print: (row) => formatPrice(row['COST_PER_CLICK'], row['CURRENCY']),
  },
  RETURN_ON_AD_SPEND: {
    label: 'ROAS',
    isFigure: true,
    print: (row) => formatRatio(row['RETURN_ON_AD_SPEND']),
  },
  CURRENCY: text('CURRENCY', 'Currency'),
}

/** In the order of the report. */
export const columnNames: readonly ColumnName[] = [
  'PRODUCT_TITLE',
  'GTIN',
  'BRAND',
  'MARKET',
  'PUBLISHER_ID',
  'PUBLISHER_NAME',
  'CAMPAIGN_ID',
  'CAMPAIGN_NAME',
  'AD_GROUP_ID',
  'AD_GROUP_NAME',
  'IMPRESSIONS',
  'CLICKS',
  'LOADS',
  'CLICK_THROUGH_RATE',
  'CONVERSIONS',
  'UNITS_SOLD',
  'CONVERSION_RATE',
  'AD_SPEND_REVENUE',
  'COST_PER_CLICK',
  'CONVERSION_VALUE',
  'RETURN_ON_AD_SPEND',
  'CURRENCY',
]

export function isSortable(name: string): name is Exclude<OrderByColumn, 'DATE'> {
  return name !== 'CURRENCY' && columnNames.some((known) => known === name)
}
