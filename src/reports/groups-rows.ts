// Turns a row of the warehouse's answer into a row of a report by groups, and reads the sums that every row carries.

import { readNanos } from '../domain/money.ts'
import { assert } from '../lib/assert.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import type { Values } from './kept-result.ts'
import { readTargetSums } from './one-currency.ts'
import type { CurrencySums, ReportRow } from './report.ts'
import { AnswerRow, namesOfCatalog, type AnswerValues, type Names } from './report-rows.ts'

/** A row whose dimensions are those of its groups; the others are empty. */
export interface GroupRow extends ReportRow {
  /** Null if they cannot be counted any more, or were not asked for. */
  readonly orders: string | null
  /** The figures in their own currencies and in the one that was asked for; none without such. */
  readonly byCurrency?: readonly CurrencySums[]
}

/** The columns of `buildGroupsQuery` after those of a row, in its order. */
const places = {
  currency: 15,
  orders: 16,
  sums: 17,
  totalRows: 18,
  unconverted: 19,
  own: 20,
} as const
const columnCount = 22

/** Says whether the orders of a day, or of all days (null), are known. */
export type AreOrdersKnown = (day: string | null) => boolean

export function createGroupFormat(
  advertiserId: number,
  catalog: CatalogNames,
  areOrdersKnown: AreOrdersKnown
): (values: Values) => GroupRow {
  const names = namesOfCatalog(advertiserId, catalog)
  return (values) => new GroupAnswerRow(values, names, areOrdersKnown)
}

class GroupAnswerRow extends AnswerRow implements GroupRow {
  readonly #values: Values
  readonly #areOrdersKnown: AreOrdersKnown

  constructor(values: Values, names: Names, areOrdersKnown: AreOrdersKnown) {
    // The first columns are those of a row of the report.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    super(values as unknown as AnswerValues, names)
    this.#values = values
    this.#areOrdersKnown = areOrdersKnown
  }

  override get currency(): string {
    return String(this.#values[places.currency])
  }

  get orders(): string | null {
    return this.#areOrdersKnown(this.date) ? String(this.#values[places.orders]) : null
  }

  get byCurrency(): readonly CurrencySums[] {
    const own = String(this.#values[places.own])
    return own === '' ? [] : readSums(own, this.#areOrdersKnown(this.date))
  }
}

export function readUnconvertedCount(values: Values): number {
  assert(values.length === columnCount, 'the warehouse answers the columns asked for')
  return Number(values[places.unconverted])
}

/** Reads the totals that every row carries. */
export function readGroupTotals(values: Values, areOrdersKnown: boolean) {
  return {
    unconvertedCount: readUnconvertedCount(values),
    totalRows: Number(values[places.totalRows]),
    sums: readSums(String(values[places.sums]), areOrdersKnown),
  }
}

/** Those that stand in their own currencies; behind them are the converted ones. */
const ownFigures = 8

type SumsByCurrency = Readonly<Record<string, string>>

function readSums(text: string, areOrdersKnown: boolean): readonly CurrencySums[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const figures = JSON.parse(text) as readonly SumsByCurrency[]
  const currencies = [...new Set(figures.flatMap((one) => Object.keys(one)))].toSorted()
  return currencies.map((currency) => {
    const sum = (place: number) => figures[place]?.[currency] ?? '0'
    const own: CurrencySums = {
      currency,
      loads: BigInt(sum(0)),
      impressions: BigInt(sum(1)),
      clicks: BigInt(sum(2)),
      conversions: BigInt(sum(3)),
      unitsSold: BigInt(sum(4)),
      valueNanos: BigInt(readNanos(sum(5))),
      spendNanos: BigInt(readNanos(sum(6))),
      orders: areOrdersKnown ? BigInt(sum(7)) : null,
    }
    if (figures.length === ownFigures) return own
    const converted = readTargetSums({
      targetValue: sum(8),
      targetSpend: sum(9),
      valueWithoutRate: sum(10),
      spendWithoutRate: sum(11),
    })
    return Object.assign(own, { converted })
  })
}
