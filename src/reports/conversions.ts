// Whether a report converts amounts between currencies. Nearly all advertisers are charged and sold in the currency of
// their market, and a statement that can convert takes much longer. So it is asked without conversions first, which
// counts the amounts that need one.

import { parseRows } from '../warehouse/warehouse.ts'
import type { Rates } from '../days/rates.ts'
import type { Values } from './kept-result.ts'

const limits = {
  /** Reports of an advertiser that are converted at once, after one was found that needs it. */
  reportsAfterFound: 50,
  advertisersMax: 10_000,
} as const

interface Reading {
  readonly advertiserId: number
  readonly rates: Rates
}

interface Rows<Row> extends Reading {
  readonly read: (converts: boolean) => Promise<readonly Row[]>
  readonly countUnconverted: (rows: readonly Row[]) => number
}

interface Blocks extends Reading {
  readonly stream: (converts: boolean) => AsyncIterable<Buffer>
  /** Reads how many amounts are missing for want of a conversion, of all rows. */
  readonly readUnconvertedCount: (row: Values) => number
}

/** Remembers which advertisers had amounts to convert. What it remembers changes no figure. */
export class Conversions {
  /** How many reports are still converted at once; the advertiser that was found first comes first. */
  readonly #expected = new Map<number, number>()

  /** The rows without conversions, if no amount needs one; otherwise the converted rows. */
  async rows<Row>({ read, countUnconverted, ...reading }: Rows<Row>): Promise<readonly Row[]> {
    const known = this.#converts(reading)
    const rows = await read(known ?? false)
    if (known !== null || countUnconverted(rows) === 0) return rows
    this.#noteFound(reading.advertiserId)
    return await read(true)
  }

  /** The same of a stream whose rows all carry the totals. */
  async *blocks({ stream, readUnconvertedCount, ...reading }: Blocks): AsyncGenerator<Buffer> {
    const known = this.#converts(reading)
    let isFirst = known === null
    let isFound = false
    for await (const block of stream(known ?? false)) {
      // The first row has the totals, so nothing was given yet.
      if (isFirst) isFound = countIn(block, readUnconvertedCount) > 0
      if (isFound) break
      isFirst = false
      yield block
    }
    if (!isFound) return
    this.#noteFound(reading.advertiserId)
    yield* stream(true)
  }

  /** Whether the amounts are converted by the first statement; null if it is to say whether any needs it. */
  #converts({ advertiserId, rates }: Reading): boolean | null {
    if (rates.currencies.length === 0) return false
    return this.#expects(advertiserId) ? true : null
  }

  #expects(advertiserId: number): boolean {
    const count = this.#expected.get(advertiserId)
    if (count === undefined) return false
    if (count === 1) this.#expected.delete(advertiserId)
    else this.#expected.set(advertiserId, count - 1)
    return true
  }

  #noteFound(advertiserId: number): void {
    this.#expected.delete(advertiserId)
    this.#expected.set(advertiserId, limits.reportsAfterFound)
    const [oldest] = this.#expected.keys()
    if (this.#expected.size > limits.advertisersMax && oldest !== undefined) {
      this.#expected.delete(oldest)
    }
  }
}

function countIn(block: Buffer, readCount: Blocks['readUnconvertedCount']): number {
  const [row] = parseRows(block.subarray(0, block.indexOf('\n') + 1))
  return row === undefined ? 0 : readCount(row)
}
