// Results of more than one page, kept in files so that the pages of one result are cut from the same
// rows while events arrive: no row is repeated or skipped between page 0 and the last.

import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { formatBlocks, noBlocks } from './blocks.ts'
import type { Values } from './blocks.ts'

export const keptLimits = {
  ageMsMax: 900_000,
  // A row takes about 200 bytes: a thousand pages of 10,000 rows, the most there can be, fit several times.
  bytesMax: 12 * 1024 ** 3,
  resultsMax: 1_000,
  readBytes: 262_144,
} as const

export interface KeptPagesOptions {
  /** Emptied at the start: results do not outlive the process that kept them. */
  readonly folder: string
  readonly clock: Clock
  readonly bytesMax?: number
}

export interface KeptTotals {
  readonly totalRows: number
  readonly unconvertedCount: number
  readonly completeThrough: string | null
}

interface Kept extends KeptTotals {
  /** Pages with the same id are cut from the same rows. */
  readonly resultId: string
}

interface KeptResult extends Kept {
  readonly path: string
  readonly keptAtMs: number
  readonly byteCount: number
  /** Where each page begins in the file; one more for the end. */
  readonly pageOffsets: readonly number[]
  /** With the names of the catalog as they were, so that all pages show the same. */
  readonly format: (values: Values) => object
}

interface Source {
  readonly blocks: AsyncIterable<readonly Values[]>
  readonly limit: number
}

export class KeptPages {
  readonly #options: KeptPagesOptions
  /** By identity of the question; the oldest first. */
  readonly #results = new Map<string, KeptResult>()

  constructor(options: KeptPagesOptions) {
    this.#options = options
    rmSync(options.folder, { recursive: true, force: true })
    mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  }

  /** The kept result of the question, or null when there is none or it is too old. */
  find(question: string): Kept | null {
    return this.#fresh(question)
  }

  /**
   * The rows of a page of a kept result; none behind the last page. They are of the type that was kept
   * under the question.
   */
  readPage<Row>(question: string, page: number): AsyncIterable<readonly Row[]> {
    const result = this.#fresh(question)
    const [from, to] = [result?.pageOffsets[page], result?.pageOffsets[page + 1]]
    if (result === null || from === undefined || to === undefined) return noBlocks()
    // What is kept under a question was kept with the format of this type of row.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return formatBlocks(readRows(result.path, from, to), result.format) as AsyncIterable<Row[]>
  }

  /** Writes the rows down and replaces what was kept of the question. */
  async keep(
    question: string,
    totals: KeptTotals,
    { format, ...source }: Source & Pick<KeptResult, 'format'>
  ): Promise<void> {
    const resultId = randomUUID()
    const path = join(this.#options.folder, resultId)
    try {
      const pageOffsets = await writeRows(path, source)
      this.#forget(question)
      const byteCount = pageOffsets.at(-1) ?? 0
      const keptAtMs = this.#options.clock()
      const file = { resultId, path, keptAtMs, byteCount, pageOffsets }
      this.#results.set(question, { ...totals, ...file, format })
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    this.#evict()
  }

  close(): void {
    rmSync(this.#options.folder, { recursive: true, force: true })
  }

  #fresh(question: string): KeptResult | null {
    const result = this.#results.get(question)
    if (result === undefined) return null
    if (this.#options.clock() - result.keptAtMs <= keptLimits.ageMsMax) return result
    this.#forget(question)
    return null
  }

  /** Oldest first, until what is left is young enough and within the bounds; never the newest. */
  #evict(): void {
    const { clock, bytesMax = keptLimits.bytesMax } = this.#options
    let byteCount = [...this.#results.values()].reduce((sum, one) => sum + one.byteCount, 0)
    for (const [question, result] of this.#results) {
      const isOld = clock() - result.keptAtMs > keptLimits.ageMsMax
      const isOver = byteCount > bytesMax || this.#results.size > keptLimits.resultsMax
      if ((!isOld && !isOver) || this.#results.size === 1) return
      byteCount -= result.byteCount
      this.#forget(question)
    }
  }

  /** Readers that have the file open read on; the system removes it behind them. */
  #forget(question: string): void {
    const result = this.#results.get(question)
    if (result === undefined) return
    this.#results.delete(question)
    rmSync(result.path, { force: true })
  }
}

/** Names a question: who asks what, whatever the page. */
export function questionOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

async function writeRows(path: string, { blocks, limit }: Source): Promise<readonly number[]> {
  const file = await open(path, 'wx', 0o600)
  const pageOffsets = [0]
  let rowCount = 0
  let byteCount = 0
  try {
    for await (const block of blocks) {
      const lines: string[] = []
      for (const row of block) {
        const line = `${JSON.stringify(row)}\n`
        lines.push(line)
        byteCount += Buffer.byteLength(line)
        rowCount += 1
        if (rowCount % limit === 0) pageOffsets.push(byteCount)
      }
      await file.appendFile(lines.join(''))
    }
  } finally {
    await file.close()
  }
  if (pageOffsets.at(-1) !== byteCount) pageOffsets.push(byteCount)
  return pageOffsets
}

async function* readRows(
  path: string,
  from: number,
  to: number
): AsyncGenerator<readonly Values[]> {
  const file = await open(path, 'r')
  try {
    yield* readLines(file, from, to)
  } finally {
    await file.close()
  }
}

async function* readLines(
  file: FileHandle,
  from: number,
  to: number
): AsyncGenerator<readonly Values[]> {
  let rest = Buffer.alloc(0)
  for (let at = from; at < to;) {
    const length = Math.min(keptLimits.readBytes, to - at)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at)
    if (bytesRead === 0) throw new Error('a kept report ended before its page did')
    at += bytesRead
    const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)])
    const end = bytes.lastIndexOf(0x0a) + 1
    rest = bytes.subarray(end)
    const lines = bytes.subarray(0, end).toString().split('\n')
    // Written by this process.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    yield lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Values)
  }
}
