// Whether a report converts amounts between currencies. Nearly all advertisers are charged and sold in the currency of
// their market, and a statement that can convert takes much longer. So it is asked without conversions first, which
// counts the amounts that need one.

import { parseRows } from '../warehouse/warehouse.ts'
import type { Values } from './kept-result.ts'

const limits = {
  /** Reports of an advertiser that are converted at once, after one was found that needs it. */
  reportsAfterFound: 50,
  advertisersMax: 10_000,
} as const

/** Remembers which advertisers had amounts to convert. What it remembers changes no figure. */
export class Conversions {
  /** How many reports are still converted at once; the advertiser that was found first comes first. */
  readonly #expected = new Map<number, number>()

  /** Whether the next report of the advertiser should be converted at once. */
  expects(advertiserId: number): boolean {
    const count = this.#expected.get(advertiserId)
    if (count === undefined) return false
    if (count === 1) this.#expected.delete(advertiserId)
    else this.#expected.set(advertiserId, count - 1)
    return true
  }

  noteFound(advertiserId: number): void {
    this.#expected.delete(advertiserId)
    this.#expected.set(advertiserId, limits.reportsAfterFound)
    const [oldest] = this.#expected.keys()
    if (this.#expected.size > limits.advertisersMax && oldest !== undefined) {
      this.#expected.delete(oldest)
    }
  }
}

interface Ways {
  readonly withoutConversions: () => AsyncIterable<Buffer>
  readonly converted: () => AsyncIterable<Buffer>
  readonly onFound: () => void
  /** Reads how many amounts are missing for want of a conversion, of all rows. */
  readonly readUnconvertedCount: (row: Values) => number
}

/** The rows without conversions, if their totals say that no amount needs one; otherwise the converted rows. */
export async function* convertedIfNeeded(ways: Ways): AsyncGenerator<Buffer> {
  let isFirst = true
  let isFound = false
  for await (const block of ways.withoutConversions()) {
    // Every row carries the totals, so nothing was given yet.
    if (isFirst) isFound = countIn(block, ways) > 0
    if (isFound) break
    isFirst = false
    yield block
  }
  if (!isFound) return
  ways.onFound()
  yield* ways.converted()
}

function countIn(block: Buffer, { readUnconvertedCount }: Ways): number {
  const [row] = parseRows(block.subarray(0, block.indexOf('\n') + 1))
  return row === undefined ? 0 : readUnconvertedCount(row)
}
