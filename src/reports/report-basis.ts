// What the rows of a report are read from: sealed days, weeks and months that stand for them, open days, and the rates of
// these. None of it depends on the advertiser. All kinds of reports share one reader, and those that are asked at once for
// the same days share its statements.

import type { CatalogNames } from '../catalog/catalog-names.ts'
import { readSums, type RevisionSums } from '../days/day-bounds.ts'
import { DayFacts } from '../days/day-facts.ts'
import { areKept } from '../days/kept-revisions.ts'
import type { DayRange, MarketDays } from '../days/market-days.ts'
import { loadRates, noRates, type Rates } from '../days/rates.ts'
import { findReportDays, type DaysAsked, type ReportDays } from '../days/sealed-days.ts'
import { coverWithSpans, spansWithin, type DaySpan, type SealedSpan } from '../days/sealed-spans.ts'
import { NextRead } from '../lib/next-read.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export interface ReportBasis {
  readonly days: ReportDays
  /** In place of sealed days. */
  readonly spans: readonly SealedSpan[]
  readonly rates: Rates
}

export interface BasisDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'barrier'>
  readonly catalog: () => CatalogNames
}

export class BasisReader {
  readonly #deps: BasisDeps
  readonly #facts: DayFacts
  readonly #rates = new NextRead<Rates>()
  readonly #sums = new NextRead<RevisionSums>()

  constructor(deps: BasisDeps) {
    this.#deps = deps
    this.#facts = new DayFacts(deps.warehouse)
  }

  /** Spans for which `isUsable` is false are left out, and their days are read instead. */
  async read(asked: DaysAsked, isUsable: (span: DaySpan) => boolean): Promise<ReportBasis> {
    const days = await findReportDays(this.#facts, this.#deps.catalog().markets(), asked)
    const within = spansWithin(days.lists.spans, asked)
    const { spans, seals } = coverWithSpans(days.seals, within.filter(isUsable))
    return { days: { ...days, seals }, spans, rates: await this.#readRates(days) }
  }

  /** Whether the rows were there when they were read: see `areKept`. */
  async areRowsKept({ days, spans }: Pick<ReportBasis, 'days' | 'spans'>): Promise<boolean> {
    const { warehouse } = this.#deps
    return await areKept(warehouse, { ...days, spans }, (range) =>
      this.#sums.ask(keyOf(range), () => readSums(warehouse, range))
    )
  }

  async #readRates({ hasOpenDays, open }: ReportDays): Promise<Rates> {
    if (!hasOpenDays) return noRates
    const range = rangeOf(open)
    return await this.#rates.ask(keyOf(range), () => loadRates(this.#deps.warehouse, range))
  }
}

function keyOf({ first, last }: DayRange): string {
  return `${first} ${last}`
}

/** The first and the last of the open days, of which there are some. */
function rangeOf(open: readonly MarketDays[]): DayRange {
  const days = open.flatMap((one) => one.days).toSorted()
  return { first: days[0] ?? '1970-01-10', last: days.at(-1) ?? '1970-01-10' }
}
