// A pure table of the columns of the report: their headings and how their figures are printed.
import type { GroupColumn, GroupOrder } from '../../src/contract/group-request.ts'
import {
  formatCount,
  formatMoney,
  formatPercent,
  formatPrice,
  formatRatio,
  nothing,
} from './format.ts'

import { tabs, type TabName } from './groups.ts'
import { t } from './language.ts'

export type Row = Readonly<Record<string, string | null>>
export type ColumnName = Exclude<GroupColumn, 'DATE'>

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
  GTIN: text('GTIN', t('GTIN')),
  PRODUCT_TITLE: text('PRODUCT_TITLE', t('Product')),
  BRAND: text('BRAND', t('Brand')),
  MARKET: text('MARKET', t('Market')),
  PUBLISHER_ID: text('PUBLISHER_ID', t('Publisher ID')),
  PUBLISHER_NAME: text('PUBLISHER_NAME', t('Publisher')),
  CAMPAIGN_ID: text('CAMPAIGN_ID', t('Campaign ID')),
  CAMPAIGN_NAME: text('CAMPAIGN_NAME', t('Campaign')),
  AD_GROUP_ID: text('AD_GROUP_ID', t('Ad group ID')),
  AD_GROUP_NAME: text('AD_GROUP_NAME', t('Ad group')),
  IMPRESSIONS: count('IMPRESSIONS', t('Impressions')),
  CLICKS: count('CLICKS', t('Clicks')),
  LOADS: count('LOADS', t('Loads')),
  CONVERSIONS: count('CONVERSIONS', t('Conversions')),
  UNITS_SOLD: count('UNITS_SOLD', t('Units sold')),
  CLICK_THROUGH_RATE: percent('CLICK_THROUGH_RATE', t('CTR')),
  CONVERSION_RATE: percent('CONVERSION_RATE', t('Conversion rate')),
  CONVERSION_VALUE: money('CONVERSION_VALUE', t('Value')),
  AD_SPEND_REVENUE: money('AD_SPEND_REVENUE', t('Spend')),
  COST_PER_CLICK: {
    label: t('CPC'),
    isFigure: true,
    print: (row) => formatPrice(row['COST_PER_CLICK'], row['CURRENCY']),
  },
  RETURN_ON_AD_SPEND: {
    label: t('ROAS'),
    isFigure: true,
    print: (row) => formatRatio(row['RETURN_ON_AD_SPEND']),
  },
  CURRENCY: text('CURRENCY', t('Currency')),
  ORDERS: count('ORDERS', t('Orders')),
}

/** Figures come first, and what they are judged by before the rest. */
const figures: readonly ColumnName[] = [
  'AD_SPEND_REVENUE',
  'CONVERSION_VALUE',
  'RETURN_ON_AD_SPEND',
  'ORDERS',
  'UNITS_SOLD',
  'CLICKS',
  'IMPRESSIONS',
  'CLICK_THROUGH_RATE',
  'COST_PER_CLICK',
  'CONVERSION_RATE',
  'CONVERSIONS',
  'LOADS',
]

const shownFigures = figures.slice(0, 8)

/** The columns that a tab can have, as the table shows them: the name, the figures, what stands behind. */
export function columnsOfTab(name: TabName): readonly ColumnName[] {
  const tab = tabs[name]
  return [tab.name, ...figures, ...tab.behind, ...tab.more, 'CURRENCY']
}

/** Those that it shows unless the reader chooses others. */
export function defaultColumnsOf(name: TabName): readonly ColumnName[] {
  const tab = tabs[name]
  return [tab.name, ...shownFigures, ...tab.behind]
}

/** All but the currency, in which amounts are not put in order. */
export function isSortable(name: string): name is Exclude<GroupOrder, 'DATE'> {
  return name !== 'CURRENCY' && Object.hasOwn(columns, name)
}
