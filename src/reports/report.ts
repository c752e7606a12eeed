import type { ReportRequest } from '../contract/report-request.ts'

/**
 * One line of the report, every figure as printed: counts in digits, money with the minor digits
 * of `currency`, ratios with 4 or 6 digits or empty over zero. The exact amounts stand beside.
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
  readonly exact: { readonly conversionValue: string; readonly adSpendRevenue: string }
}

export interface ReportResult {
  /** Of all pages. */
  readonly totalRows: number
  /** The last day from which on back all is sealed; null while nothing is. */
  readonly completeThrough: string | null
  /** Amounts of all pages that have no rate into the market's currency and count as nothing. */
  readonly unconvertedCount: number
  /** Names the kept result that the page is cut from; absent when the result is one page. */
  readonly resultId?: string
  /** The rows of the page. Throws in mid-stream when the engine fails: an end is a whole page. */
  readonly rows: AsyncIterable<readonly ReportRow[]>
}

export interface ReportCall {
  readonly advertiserId: number
  readonly request: ReportRequest
  /** Whose pages these are: kept pages are never shared between keys. */
  readonly keyId: string
  readonly signal: AbortSignal
}

/** Resolves when the first rows are there, so that a refusal can still be a proper answer. */
export type RunReport = (call: ReportCall) => Promise<ReportResult>
