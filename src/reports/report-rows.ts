// Turns a row of the warehouse's answer into a row of the report. A figure is printed when it is read: a
// report asks for some columns of thousands of rows, and printing every column of every row took as long as
// the query.

import { minorDigits } from '../domain/currency.ts'
import {
  divideHalfEven,
  formatAmount,
  nanosScale,
  readNanos,
  timesPowerOfTen,
} from '../domain/money.ts'
import { assert } from '../lib/assert.ts'
import type { CatalogNames, ReportMarket } from '../catalog/catalog-names.ts'
import type { Values } from './kept-result.ts'
import type { ReportRow } from './report.ts'

/** The columns of `buildReportQuery`, in its order; sums that may leave the doubles come as text. */
export type AnswerValues = readonly [
  gtin: string,
  title: string,
  brand: string,
  marketId: number,
  publisherId: number,
  campaignId: number,
  adGroupId: number,
  day: string | null,
  loads: number,
  impressions: number,
  clicks: number,
  conversions: number,
  unitsSold: string,
  conversionValue: string,
  spend: string,
  totalRows: number,
  totalUnconverted: string,
  boundAdvertiserId: number,
]

const answerColumnCount: AnswerValues['length'] = 18

/** The types are those of `buildReportQuery`, which ClickHouse keeps to; tests compare each figure. */
function answerValues(values: Values): AnswerValues {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return values as unknown as AnswerValues
}

/** Reads the totals that every row carries. */
export function readTotals(values: Values) {
  assert(values.length === answerColumnCount, 'the warehouse answers the columns asked for')
  const answer = answerValues(values)
  return { totalRows: answer[15], unconvertedCount: Number(answer[16]) }
}

export interface Names {
  readonly markets: ReadonlyMap<number, ReportMarket>
  readonly publishers: ReadonlyMap<number, string>
  readonly campaigns: ReadonlyMap<number, string>
  readonly adGroups: ReadonlyMap<number, string>
}

export function namesOfCatalog(advertiserId: number, catalog: CatalogNames): Names {
  return {
    markets: new Map(catalog.markets().map((market) => [market.id, market])),
    publishers: namesById(catalog.publishers()),
    campaigns: namesById(catalog.campaigns(advertiserId)),
    adGroups: namesById(catalog.adGroups(advertiserId)),
  }
}

export function createRowFormat(
  advertiserId: number,
  catalog: CatalogNames
): (values: Values) => ReportRow {
  const names = namesOfCatalog(advertiserId, catalog)
  return (values) => new AnswerRow(answerValues(values), names)
}

/** Amounts are printed exactly; every ratio is computed from them with one rounding. */
export class AnswerRow implements ReportRow {
  readonly #values: AnswerValues
  readonly #names: Names

  constructor(values: AnswerValues, names: Names) {
    this.#values = values
    this.#names = names
  }

  get gtin(): string {
    return this.#values[0]
  }

  get title(): string {
    return this.#values[1]
  }

  get brand(): string {
    return this.#values[2]
  }

  get market(): string {
    return marketOf(this.#names.markets, this.#values[3]).market
  }

  get currency(): string {
    return marketOf(this.#names.markets, this.#values[3]).currency
  }

  get publisherId(): number {
    return this.#values[4]
  }

  get publisherName(): string {
    return this.#names.publishers.get(this.#values[4]) ?? ''
  }

  get campaignId(): number {
    return this.#values[5]
  }

  get campaignName(): string {
    return this.#names.campaigns.get(this.#values[5]) ?? ''
  }

  get adGroupId(): number {
    return this.#values[6]
  }

  get adGroupName(): string {
    return this.#names.adGroups.get(this.#values[6]) ?? ''
  }

  get date(): string | null {
    return this.#values[7]
  }

  get loads(): string {
    return String(this.#values[8])
  }

  get impressions(): string {
    return String(this.#values[9])
  }

  get clicks(): string {
    return String(this.#values[10])
  }

  get conversions(): string {
    return String(this.#values[11])
  }

  get unitsSold(): string {
    return this.#values[12]
  }

  get clickThroughRate(): string {
    return divideHalfEven(this.#values[10], this.#values[9], 6)
  }

  get conversionRate(): string {
    return divideHalfEven(this.#values[11], this.#values[10], 6)
  }

  get conversionValue(): string {
    return formatAmount(readNanos(this.#values[13]), minorDigits(this.currency))
  }

  get adSpendRevenue(): string {
    return formatAmount(readNanos(this.#values[14]), minorDigits(this.currency))
  }

  get costPerClick(): string {
    const clicks = timesPowerOfTen(this.#values[10], nanosScale)
    return divideHalfEven(readNanos(this.#values[14]), clicks, 6)
  }

  get returnOnAdSpend(): string {
    return divideHalfEven(readNanos(this.#values[13]), readNanos(this.#values[14]), 4)
  }
}

/** A market that the catalog does not know is shown by its id, without a currency. */
export function marketOf(markets: ReadonlyMap<number, ReportMarket>, id: number) {
  const market = markets.get(id)
  return { market: market?.code ?? String(id), currency: market?.currency ?? '' }
}

export function namesById(entries: readonly { readonly id: number; readonly name: string }[]) {
  return new Map(entries.map((entry) => [entry.id, entry.name]))
}
