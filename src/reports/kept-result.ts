// A result of several pages in a file. It is written as the warehouse gives it, without being parsed, and each page
// can be read as soon as its rows are written.

import { closeSync, openSync, read, rmSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { assert } from '../lib/assert.ts'
import { untilAborted } from '../lib/until-aborted.ts'
import { parseRows } from '../warehouse/warehouse.ts'
import { assertAnswersFor } from './bound-advertiser.ts'
import type { CurrencySums } from './report.ts'
import { notFinished } from './shared-questions.ts'

/** A row as the warehouse gives it: its columns in order. */
export type Values = readonly unknown[]

export interface KeptTotals {
  readonly totalRows: number
  readonly unconvertedCount: number
  readonly completeThrough: string | null
  readonly renewingDays?: readonly string[]
  /** The sums of all rows by currency, of results that have them. */
  readonly sums?: readonly CurrencySums[]
}

export interface KeptPage<Row> extends KeptTotals {
  /** Pages with the same id are cut from the same rows. */
  readonly resultId: string
  /** None behind the last page. */
  readonly rows: readonly Row[]
}

/** A result that has begun. */
export interface Source<Row extends object> {
  readonly totals: KeptTotals
  readonly advertiserId: number
  /** How many rows there are to write. */
  readonly rowCount: number
  readonly blocks: AsyncIterable<Buffer>
  readonly format: (values: Values) => Row
  /** Aborts the statement. */
  readonly controller: AbortController
}

interface Place {
  readonly id: string
  readonly path: string
  readonly owner: string
  /** Rows of a page. */
  readonly limit: number
  /** Makes room for bytes that are about to be written; `byteCount` includes them already. */
  readonly makeRoom: (byteCount: number) => Promise<void>
  /** Writing that takes longer ends as soon as nobody waits for a page. */
  readonly writingMsMax: number
}

const readAt = promisify(read)
const lineBreak = 0x0a

export class KeptResult {
  readonly owner: string
  /** Resolves once nothing is written any more, whether the result is whole or not. */
  readonly ended: Promise<void>
  byteCount = 0
  isWriting = true
  /** Why it is not whole. */
  failure: Error | null = null
  readonly #source: Source<object>
  readonly #place: Place
  readonly #watching: NodeJS.Timeout
  /** Where each page begins in the file; one more for the end of what is written. */
  readonly #pageOffsets = [0]
  #rowCount = 0
  #readerCount = 0
  #isAnswered = false
  #isDropped = false
  #wake: () => void = () => {}
  #progress = this.#nextProgress()

  static async begin(place: Place, source: Source<object>): Promise<KeptResult> {
    return new KeptResult(place, source, await open(place.path, 'wx', 0o600))
  }

  private constructor(place: Place, source: Source<object>, file: FileHandle) {
    this.owner = place.owner
    this.#place = place
    this.#source = source
    this.#watching = setInterval(() => this.#endUnwatched(), place.writingMsMax).unref()
    this.ended = this.#run(file)
  }

  /** Whether it was ended because nobody needs it, which is not a failure. */
  get isAborted(): boolean {
    return this.#source.controller.signal.aborted
  }

  /**
   * Waits until the page is written, and then for what `beforeAnswer` waits. The file is opened at once, so that a page
   * that was found can be read whatever is removed meanwhile. A result whose writing failed gives no page.
   * `signal` is the reader's.
   */
  async page<Row>(
    page: number,
    signal: AbortSignal,
    beforeAnswer: () => Promise<void>
  ): Promise<KeptPage<Row>> {
    this.#throwFailure()
    const file = openSync(this.#place.path, 'r')
    this.#readerCount += 1
    try {
      while (this.isWriting && this.#pageOffsets.length < page + 2) {
        await unlessAborted(this.#progress, signal)
      }
      this.#throwFailure()
      const rows = await this.#readRows<Row>(file, page)
      if (this.isWriting) await unlessAborted(beforeAnswer(), signal)
      this.#throwFailure()
      this.#isAnswered = true
      return { ...this.#source.totals, resultId: this.#place.id, rows }
    } finally {
      closeSync(file)
      this.#readerCount -= 1
      await this.#endUnwanted()
    }
  }

  /** Nobody finds it any more. It is written on for those only who are reading it. */
  drop(): void {
    this.#isDropped = true
    rmSync(this.#place.path, { force: true })
    void this.#endUnwanted()
  }

  /** Resolves when the statement has ended. */
  async abort(): Promise<void> {
    this.#source.controller.abort(notFinished())
    await this.ended
  }

  #throwFailure(): void {
    if (this.failure !== null) throw this.failure
  }

  /** If all readers left before any page was answered, nobody needs the rest. */
  async #endUnwanted(): Promise<void> {
    const isWanted = this.#readerCount > 0 || (this.#isAnswered && !this.#isDropped)
    if (this.isWriting && !isWanted) await this.abort()
  }

  #endUnwatched(): void {
    if (this.#readerCount === 0) void this.abort()
  }

  async #run(file: FileHandle): Promise<void> {
    try {
      try {
        for await (const block of this.#source.blocks) await this.#write(file, block)
      } finally {
        await file.close()
      }
      assert(
        this.#rowCount === this.#source.rowCount,
        'a result has the rows that its first one tells'
      )
      if (this.#pageOffsets.at(-1) !== this.byteCount) this.#pageOffsets.push(this.byteCount)
    } catch (error) {
      this.failure =
        error instanceof Error ? error : new Error('the writing failed', { cause: error })
      rmSync(this.#place.path, { force: true })
    }
    clearInterval(this.#watching)
    this.isWriting = false
    this.#wake()
  }

  async #write(file: FileHandle, block: Buffer): Promise<void> {
    // A server checks the signal only now and then. Rows that come after it must not be written as a whole result.
    this.#source.controller.signal.throwIfAborted()
    const start = this.byteCount
    const ends: number[] = []
    for (let at = block.indexOf(lineBreak); at !== -1; at = block.indexOf(lineBreak, at + 1)) {
      this.#rowCount += 1
      if (this.#rowCount % this.#place.limit === 0) ends.push(start + at + 1)
    }
    this.byteCount += block.length
    await this.#place.makeRoom(block.length)
    await file.appendFile(block)
    if (ends.length === 0) return
    this.#pageOffsets.push(...ends)
    const wake = this.#wake
    this.#progress = this.#nextProgress()
    wake()
  }

  #nextProgress(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }

  async #readRows<Row>(file: number, page: number): Promise<readonly Row[]> {
    const [from, to] = [this.#pageOffsets[page], this.#pageOffsets[page + 1]]
    if (from === undefined || to === undefined) return []
    const bytes = Buffer.allocUnsafe(to - from)
    const { bytesRead } = await readAt(file, bytes, 0, bytes.length, from)
    assert(bytesRead === bytes.length, 'a page of a kept result is there as it was written')
    const { advertiserId, format } = this.#source
    const rows = parseRows(bytes).map((values) => {
      assertAnswersFor(advertiserId, values.at(-1))
      return format(values)
    })
    // Written by this process, with the format of the type of row that is kept under the question.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return rows as Row[]
  }
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await untilAborted(work, signal)
  signal.throwIfAborted()
}
