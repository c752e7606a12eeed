import type { ReportRequest } from '../contract/report-request.ts'
import type { PagedResult } from './paged.ts'

/**
 * One line of the report, every figure as printed: counts in digits, money exactly (with the minor digits
 * of `currency`, or with nine), ratios with 4 or 6 digits or empty over zero.
 */
export interface ReportRow {
  readonly gtin: string
  readonly title: string
  readonly brand: string
  readonly market: string
  readonly publisherId: number
  readonly publisherName: string
  readonly campaignId: number
  readonly campaignName: string
  readonly adGroupId: number
  readonly adGroupName: string
  /** ISO day in the market's time zone; null without `dateBreakdown`. */
  readonly date: string | null
  readonly impressions: string
  readonly clicks: string
  readonly loads: string
  readonly conversions: string
  readonly unitsSold: string
  readonly clickThroughRate: string
  readonly conversionRate: string
  readonly conversionValue: string
  readonly adSpendRevenue: string
  readonly costPerClick: string
  readonly returnOnAdSpend: string
  readonly currency: string
}

/** Exact sums of the rows of a report. */
export interface ReportSums {
  readonly impressions: bigint
  readonly clicks: bigint
  readonly loads: bigint
  readonly conversions: bigint
  readonly unitsSold: bigint
  readonly valueNanos: bigint
  readonly spendNanos: bigint
}

export interface CurrencySums extends ReportSums {
  /** Empty for markets that the catalog does not know. */
  readonly currency: string
  /** Distinct purchases; null if they can no longer be counted. */
  readonly orders: bigint | null
  /** Of a question that asks for one currency. */
  readonly converted?: ConvertedAmounts
}

/** Of a period. */
export interface CurrencyTotals extends CurrencySums {
  /** Amounts that are missing for want of a rate. */
  readonly unconvertedCount: number
}

export interface Amounts {
  readonly valueNanos: bigint
  readonly spendNanos: bigint
}

/** The amounts in the currency that was asked for, and the part of them that has no rate, in their own. */
export interface ConvertedAmounts extends Amounts {
  readonly withoutRate: Amounts
}

export type ReportResult = PagedResult<ReportRow>

export interface ReportCall {
  readonly advertiserId: number
  readonly request: ReportRequest
  /** Whose pages these are: kept pages are never shared between keys. */
  readonly keyId: string
  readonly signal: AbortSignal
}

/** Resolves with the whole page. */
export type RunReport = (call: ReportCall) => Promise<ReportResult>
