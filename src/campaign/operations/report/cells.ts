import type { CsvCell } from '../../../reports/csv.ts'
import type { Column } from '../../../contract/report-columns.ts'
import type { ReportRow } from '../../../reports/report.ts'

/** Which of a row's values stands in which column. Text is made safe for spreadsheets, numbers are not. */
export const cellOf: Readonly<Record<Column, (row: ReportRow) => CsvCell>> = {
  GTIN: ({ gtin }) => ({ text: gtin }),
  PRODUCT_TITLE: ({ title }) => ({ text: title }),
  BRAND: ({ brand }) => ({ text: brand }),
  MARKET: ({ market }) => ({ text: market }),
  PUBLISHER_ID: ({ publisherId }) => ({ number: String(publisherId) }),
  PUBLISHER_NAME: ({ publisherName }) => ({ text: publisherName }),
  CAMPAIGN_ID: ({ campaignId }) => ({ number: String(campaignId) }),
  CAMPAIGN_NAME: ({ campaignName }) => ({ text: campaignName }),
  AD_GROUP_ID: ({ adGroupId }) => ({ number: String(adGroupId) }),
  AD_GROUP_NAME: ({ adGroupName }) => ({ text: adGroupName }),
  DATE: ({ date }) => ({ text: date ?? '' }),
  IMPRESSIONS: ({ impressions }) => ({ number: impressions }),
  CLICKS: ({ clicks }) => ({ number: clicks }),
  LOADS: ({ loads }) => ({ number: loads }),
  CONVERSIONS: ({ conversions }) => ({ number: conversions }),
  UNITS_SOLD: ({ unitsSold }) => ({ number: unitsSold }),
  CLICK_THROUGH_RATE: ({ clickThroughRate }) => ({ number: clickThroughRate }),
  CONVERSION_RATE: ({ conversionRate }) => ({ number: conversionRate }),
  CONVERSION_VALUE: ({ conversionValue }) => ({ number: conversionValue }),
  AD_SPEND_REVENUE: ({ adSpendRevenue }) => ({ number: adSpendRevenue }),
  COST_PER_CLICK: ({ costPerClick }) => ({ number: costPerClick }),
  RETURN_ON_AD_SPEND: ({ returnOnAdSpend }) => ({ number: returnOnAdSpend }),
  CURRENCY: ({ currency }) => ({ text: currency }),
}
