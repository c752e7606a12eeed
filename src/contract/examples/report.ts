// The reports that an advertiser reads, and why a purchase is credited to it.
import { listGroupColumns } from '../group-request.ts'
import { attributionColumns, listColumns, trafficQualityColumns } from '../report-columns.ts'
import { advertiserPath, gtin, march, servedAdId } from './example.ts'

const figures = {
  IMPRESSIONS: '10',
  CLICKS: '4',
  LOADS: '12',
  CONVERSIONS: '1',
  UNITS_SOLD: '2',
  CLICK_THROUGH_RATE: '0.400000',
  CONVERSION_RATE: '0.250000',
  CONVERSION_VALUE: '39.98',
  AD_SPEND_REVENUE: '1.02',
  COST_PER_CLICK: '0.255000',
  RETURN_ON_AD_SPEND: '39.1961',
  CURRENCY: 'EUR',
}

const dayFigures = {
  IMPRESSIONS: '10',
  CLICKS: '4',
  LOADS: '12',
  CONVERSION_VALUE: '39.98',
  AD_SPEND_REVENUE: '1.02',
  CURRENCY: 'EUR',
  ORDERS: '1',
}

const row = {
  GTIN: gtin,
  PRODUCT_TITLE: 'Coffee beans, 1 kg',
  BRAND: 'Acme',
  MARKET: 'DE',
  PUBLISHER_ID: '10',
  PUBLISHER_NAME: 'Example Shop',
  CAMPAIGN_ID: '1001',
  CAMPAIGN_NAME: 'Spring',
  AD_GROUP_ID: '5001',
  AD_GROUP_NAME: 'Hot drinks',
  ...figures,
}

const dated = { ...row, DATE: '2026-03-02' }
const coverage = { completeThrough: '2026-03-31', renewingDays: [], unconverted: 0 }

const byDay = {
  ...march,
  dateBreakdown: true,
  attributionProfile: 'CLK_14_DAYS',
  filters: [
    { field: 'PRODUCT_TITLE', values: ['coffee', 'espresso'] },
    { field: 'MARKET', values: ['DE'] },
  ],
}
const best = { ...march, orderBy: 'CONVERSION_VALUE', sortType: 'DESC', limit: 20 }

const byCampaign = {
  ...march,
  groupBy: ['CAMPAIGN'],
  filters: [{ field: 'PUBLISHER_ID', values: [10] }],
  orderBy: 'CONVERSION_VALUE',
  limit: 25,
  convertTo: 'EUR',
}
const campaignRow = { CAMPAIGN_ID: '1001', CAMPAIGN_NAME: 'Spring', ...figures }

const quality = '2026-03-02,DE,10,Example Shop,IMPRESSION,10,1,0,0,0,0,0,0'
const rates = '0.090909,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000'
const creditedLine =
  `2026-03-04,2026-03-04T11:00:00.000Z,DE,10,Example Shop,old-1,1,${gtin},1001,5001,${gtin},` +
  `DIRECT_CLICK,2026-03-02T10:00:30.000Z,176370.000,1,9.99,EUR,${servedAdId}`

function csv(header: readonly string[], ...lines: readonly string[]): string {
  return [header.join(','), ...lines, ''].join('\r\n')
}

function quoted(value: string): string {
  return value.includes(',') ? `"${value}"` : value
}

const touched = {
  servedAdId,
  touchedAt: '2026-03-02T10:00:30.000Z',
  msBeforePurchase: 176_370_000,
}
const placedAd = { marketId: 1, campaignId: 1001, adGroupId: 5001, gtin }
const credited = { creditedTo: 'you', credit: { rule: 'direct', ...touched, ...placedAd } }

export const reportExamples = {
  downloadSpaProductReport: {
    path: advertiserPath,
    query: { locale: 'en' },
    body: byDay,
    answers: {
      200: csv(
        listColumns(byDay),
        listColumns(byDay)
          .map((column) => quoted(dated[column]))
          .join(',')
      ),
    },
  },
  readSpaProductReport: {
    path: advertiserPath,
    body: best,
    answers: {
      200: { rows: [row], totals: [figures], page: 0, limit: 20, totalRows: 1, ...coverage },
    },
  },
  readSpaProductSeries: {
    path: advertiserPath,
    body: {
      ...march,
      interval: 'WEEK',
      filters: [{ field: 'CAMPAIGN_ID', values: [1001] }],
    },
    answers: {
      200: {
        days: [{ DATE: '2026-03-02', ...figures, ORDERS: '1' }],
        totals: [{ ...figures, ORDERS: '1', UNCONVERTED: '0' }],
        firstDay: '2026-01-15',
        ...coverage,
      },
    },
  },
  readSpaProductSummary: {
    body: {
      ...march,
      advertiserIds: [1],
      comparison: { startDate: '2026-01-29', endDate: '2026-02-28' },
      trendDays: 28,
      convertTo: 'EUR',
    },
    answers: {
      200: {
        advertisers: [
          {
            id: 1,
            name: 'Acme',
            totals: [{ ...figures, ORDERS: '1', UNCONVERTED: '0' }],
            comparison: [],
            days: [{ DATE: '2026-03-05', ...dayFigures }],
            firstDay: '2026-01-15',
            converted: {
              totals: { ...figures, ORDERS: '1', WITHOUT_RATE: [] },
              comparison: null,
              days: [{ DATE: '2026-03-05', ...dayFigures }],
            },
          },
        ],
        ...coverage,
      },
    },
  },
  readSpaProductGroups: {
    path: advertiserPath,
    body: byCampaign,
    answers: {
      200: {
        rows: [{ ...campaignRow, ORDERS: '1' }],
        totals: [{ ...figures, ORDERS: '1' }],
        page: 0,
        limit: 25,
        totalRows: 1,
        converted: {
          rows: [{ ...campaignRow, ORDERS: '1', WITHOUT_RATE: [] }],
          totals: { ...figures, ORDERS: '1', WITHOUT_RATE: [] },
        },
        ...coverage,
      },
    },
  },
  downloadSpaProductGroups: {
    path: advertiserPath,
    body: { ...march, groupBy: ['CAMPAIGN', 'DATE'], orderBy: 'DATE', sortType: 'ASC' },
    answers: {
      200: csv(
        listGroupColumns(['CAMPAIGN', 'DATE']),
        listGroupColumns(['CAMPAIGN', 'DATE'])
          .map((column) => ({ ...dated, ORDERS: '1' })[column])
          .join(',')
      ),
    },
  },
  listSpaReportValues: {
    path: advertiserPath,
    query: { ...march, field: 'CAMPAIGN_ID', q: 'spr' },
    answers: { 200: { values: [{ value: '1001', name: 'Spring', of: '' }], hasMore: false } },
  },
  listSealedDays: {
    path: advertiserPath,
    query: { since: '2026-03-01T00:00:00Z' },
    answers: {
      200: {
        days: [
          {
            day: '2026-03-02',
            market: 'DE',
            revision: '1772600400000-1',
            sealedAt: '2026-03-04T05:00:00.000Z',
          },
        ],
        hasMore: false,
      },
    },
  },
  downloadTrafficQuality: {
    path: advertiserPath,
    query: march,
    answers: { 200: csv(trafficQualityColumns, `${quality},${rates}`) },
  },
  downloadAttributions: {
    path: advertiserPath,
    query: march,
    answers: { 200: csv(attributionColumns, creditedLine) },
  },
  explainAttribution: {
    path: { ...advertiserPath, publisherId: 10, transactionId: 'old-1' },
    answers: {
      200: {
        publisherId: 10,
        transactionId: 'old-1',
        purchasedAt: '2026-03-04T11:00:00.000Z',
        currency: 'EUR',
        lines: [
          {
            line: 1,
            gtin,
            quantity: 1,
            value: '9.99',
            boughtQuantity: 1,
            boughtValue: '9.99',
            returns: [],
            credits: {
              CLK_14_DAYS: credited,
              IMP_1_DAY: { creditedTo: 'nobody', credit: null },
              IMP_1_DAY_CLK_14_DAYS: credited,
            },
            candidates: [
              {
                kind: 'click',
                ...touched,
                ...placedAd,
                groupId: 'COFFEE',
                rule: 'direct',
                outsideMs: 0,
                outcomes: {
                  CLK_14_DAYS: 'won',
                  IMP_1_DAY: 'not-in-profile',
                  IMP_1_DAY_CLK_14_DAYS: 'won',
                },
              },
            ],
            candidatesLeftOut: 0,
            otherAdvertisersCandidates: 0,
          },
        ],
        linesLeftOut: 0,
        readAt: '2026-03-04T11:00:05.000Z',
        isPending: false,
        names: {
          publisher: 'Example Shop',
          markets: [{ id: 1, code: 'DE', timeZone: 'Europe/Berlin' }],
          campaigns: [{ id: 1001, name: 'Spring' }],
          adGroups: [{ id: 5001, name: 'Search' }],
          products: [{ marketId: 1, gtin, title: 'Coffee' }],
        },
      },
    },
  },
}
