// The answers of the report as JSON.
import { Type, type TSchema } from 'typebox'
import {
  catalogId,
  count,
  dateText,
  flag,
  instantText,
  list,
  named,
  nullOr,
  optional,
  text,
  type Of,
} from './fields.ts'
import type { GroupColumn } from './group-request.ts'
import type { Column } from './report-columns.ts'

// Rows and sums are open, because columns may be appended. Values are the text of the CSV, unescaped.

const number = (description: string) => Type.String({ description })
const ratio = (description: string) => nullOr(Type.String(), `${description}; null over zero.`)

/** The figures of a row and of sums. */
const figures = {
  IMPRESSIONS: number('Counted impressions.'),
  CLICKS: number('Counted clicks.'),
  LOADS: number('Counted loads.'),
  CONVERSIONS: number('Purchases with a credited line.'),
  UNITS_SOLD: number('Units of the credited lines.'),
  CLICK_THROUGH_RATE: ratio('CLICKS / IMPRESSIONS, 6 digits'),
  CONVERSION_RATE: ratio('CONVERSIONS / CLICKS, 6 digits'),
  CONVERSION_VALUE: number('What the credited lines are worth, exact.'),
  AD_SPEND_REVENUE: number('What the clicks and impressions cost, exact.'),
  COST_PER_CLICK: ratio('AD_SPEND_REVENUE / CLICKS, 6 digits'),
  RETURN_ON_AD_SPEND: ratio('CONVERSION_VALUE / AD_SPEND_REVENUE, 4 digits'),
  CURRENCY: text('Of the amounts.'),
} satisfies Partial<Record<Column, TSchema>>

const reportRowSchema = named('SpaProductReportRow', {
  GTIN: Type.String(),
  PRODUCT_TITLE: Type.String(),
  BRAND: Type.String(),
  MARKET: text('Its code.'),
  PUBLISHER_ID: Type.String(),
  PUBLISHER_NAME: Type.String(),
  CAMPAIGN_ID: Type.String(),
  CAMPAIGN_NAME: Type.String(),
  AD_GROUP_ID: Type.String(),
  AD_GROUP_NAME: Type.String(),
  DATE: optional(dateText('With `dateBreakdown` only.')),
  ...figures,
} satisfies Record<Column, TSchema>)

const reportTotalsSchema = named('SpaProductReportTotals', figures)

const orders = {
  ORDERS: nullOr(
    Type.String(),
    'The distinct purchases behind CONVERSIONS; null where these are no longer known.'
  ),
}
const groupTotalsSchema = named('SpaProductGroupTotals', { ...figures, ...orders })
const seriesTotalsSchema = named('SpaProductSeriesTotals', {
  ...figures,
  ...orders,
  UNCONVERTED: number(
    'Amounts (credited lines, charged events) that are missing from these for want of an exchange rate.'
  ),
})

/** Sums of all currencies in one. */
const inOneCurrency = {
  ...figures,
  ...orders,
  CONVERSION_VALUE: nullOr(
    Type.String(),
    'At the reference rate of each day, exact; null if nothing of it has a rate.'
  ),
  AD_SPEND_REVENUE: nullOr(
    Type.String(),
    'At the reference rate of each day, exact; null if nothing of it has a rate.'
  ),
  COST_PER_CLICK: ratio('As in any sums; also null if anything has no rate'),
  CURRENCY: text('`convertTo`.'),
  WITHOUT_RATE: list(
    named('AmountsWithoutRate', {
      CURRENCY: Type.String(),
      CONVERSION_VALUE: Type.String(),
      AD_SPEND_REVENUE: Type.String(),
    }),
    'By CURRENCY: what is not in the amounts, because its day has no rate.'
  ),
}
const convertedTotalsSchema = named('SpaProductConvertedTotals', inOneCurrency)
const convertedDaySchema = named('SpaProductConvertedDay', { DATE: dateText(), ...inOneCurrency })

const convertedSums = optional(
  Type.Object(
    {
      days: list(convertedDaySchema, 'By DATE.'),
      totals: nullOr(convertedTotalsSchema, 'Null without any row.'),
    },
    { description: 'With `convertTo` only: the days and totals of all currencies in this one.' }
  )
)

const seriesDaySchema = named('SpaProductSeriesDay', { DATE: dateText(), ...figures, ...orders })

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
  unconverted: count(
    'Amounts over all pages (credited lines, charged events) that are missing for want of an exchange rate.'
  ),
}

export const reportJsonSchema = named('SpaProductReport', {
  rows: list(reportRowSchema, 'The rows of the page, in the order that was asked for.'),
  totals: list(reportTotalsSchema, "Exact sums of the page's rows, by currency."),
  page: Type.Integer(),
  limit: Type.Integer(),
  totalRows: Type.Integer({ description: 'Rows of the whole report, over all pages.' }),
  ...coverage,
})

const of = (grouping: string) => optional(text(`With ${grouping} in \`groupBy\` only.`))

const groupDimensions = {
  GTIN: of('PRODUCT'),
  PRODUCT_TITLE: of('PRODUCT'),
  BRAND: of('PRODUCT or BRAND'),
  MARKET: of('MARKET'),
  PUBLISHER_ID: of('PUBLISHER'),
  PUBLISHER_NAME: of('PUBLISHER'),
  CAMPAIGN_ID: of('CAMPAIGN or AD_GROUP'),
  CAMPAIGN_NAME: of('CAMPAIGN or AD_GROUP'),
  AD_GROUP_ID: of('AD_GROUP'),
  AD_GROUP_NAME: of('AD_GROUP'),
  DATE: optional(dateText('With DATE in `groupBy` only.')),
}
const ordersOfGroup = {
  ORDERS: nullOr(
    Type.String(),
    'The distinct purchases with a credited line in the group; with DATE in `groupBy`, each on the day of its first ' +
      'line alone, so that days add up. Null where these are no longer known.'
  ),
}

const groupRowSchema = named('SpaProductGroupRow', {
  ...groupDimensions,
  ...figures,
  ...ordersOfGroup,
} satisfies Record<GroupColumn, TSchema>)

const convertedGroupSchema = named('SpaProductConvertedGroup', {
  ...groupDimensions,
  ...inOneCurrency,
  ...ordersOfGroup,
})

export const groupsSchema = named('SpaProductGroups', {
  rows: list(
    groupRowSchema,
    'The groups of the page, in the order that was asked for. With `convertTo`: those of `converted`, with a row ' +
      'for each of their currencies.'
  ),
  totals: list(
    groupTotalsSchema,
    'By CURRENCY: the exact sums of the groups of all pages. ORDERS are the distinct purchases of all groups, ' +
      'of which one may be in several.'
  ),
  page: Type.Integer(),
  limit: Type.Integer(),
  totalRows: Type.Integer({
    description: 'Groups over all pages; with `convertTo` those of `converted`.',
  }),
  converted: optional(
    Type.Object(
      {
        rows: list(
          convertedGroupSchema,
          'The groups of the page, each once whatever its currencies, in the order of the converted amounts.'
        ),
        totals: nullOr(convertedTotalsSchema, 'Of all pages; null without any row.'),
      },
      { description: 'With `convertTo` only: the groups of all currencies in this one.' }
    )
  ),
  ...coverage,
})

export const reportSeriesSchema = named('SpaProductSeries', {
  days: list(
    seriesDaySchema,
    'By DATE, then CURRENCY: exact sums of the rows of the report with dateBreakdown. DATE is the first day ' +
      'of the `interval`: the day itself, a Monday, or the first of a month. Intervals without a row are left out.'
  ),
  totals: list(
    seriesTotalsSchema,
    'By CURRENCY: the sums of the days, which are those of the report over all pages.'
  ),
  firstDay: nullOr(
    dateText(),
    'The first day with figures of the advertiser, whatever was asked for; null if there is none.'
  ),
  converted: convertedSums,
  ...coverage,
})

const summaryDaySchema = named('SpaProductSummaryDay', {
  DATE: dateText(),
  IMPRESSIONS: figures.IMPRESSIONS,
  CLICKS: figures.CLICKS,
  LOADS: figures.LOADS,
  CONVERSION_VALUE: figures.CONVERSION_VALUE,
  AD_SPEND_REVENUE: figures.AD_SPEND_REVENUE,
  CURRENCY: figures.CURRENCY,
  ...orders,
})
const convertedSummaryDaySchema = named('SpaProductConvertedSummaryDay', {
  DATE: dateText(),
  IMPRESSIONS: figures.IMPRESSIONS,
  CLICKS: figures.CLICKS,
  LOADS: figures.LOADS,
  CONVERSION_VALUE: inOneCurrency.CONVERSION_VALUE,
  AD_SPEND_REVENUE: inOneCurrency.AD_SPEND_REVENUE,
  CURRENCY: inOneCurrency.CURRENCY,
  ...orders,
})

export const reportSummarySchema = named('SpaProductSummary', {
  advertisers: list(
    named('AdvertiserSummary', {
      id: catalogId(),
      name: Type.String(),
      totals: list(seriesTotalsSchema, 'By CURRENCY: the totals of `series.json`.'),
      comparison: list(seriesTotalsSchema, 'The same of the period of `comparison`.'),
      days: list(summaryDaySchema, 'By DATE, then CURRENCY: the last `trendDays` days.'),
      firstDay: nullOr(
        dateText(),
        'The first day with figures, whatever was asked for; null if there is none.'
      ),
      converted: optional(
        Type.Object(
          {
            totals: nullOr(convertedTotalsSchema, 'Null without any row.'),
            comparison: nullOr(convertedTotalsSchema, 'Null without any row.'),
            days: list(convertedSummaryDaySchema, 'By DATE.'),
          },
          { description: 'With `convertTo` only: the same of all currencies in this one.' }
        )
      ),
    }),
    'By id; those without figures are among them.'
  ),
  next: optional(catalogId('The `after` of the next page; absent on the last one.')),
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
export type JsonGroups = Of<typeof groupsSchema>
export type JsonSeries = Of<typeof reportSeriesSchema>
export type JsonSummary = Of<typeof reportSummarySchema>
export type SealedDays = Of<typeof sealedDaysSchema>
