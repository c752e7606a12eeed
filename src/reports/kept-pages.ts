// Keeps results of more than one page in files. So all pages of a result are cut from the same rows while
// events arrive, and no row is repeated or skipped.

import { createHash, randomUUID } from 'node:crypto'
import { closeSync, mkdirSync, openSync, read, rmSync } from 'node:fs'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'

/** A row as the warehouse gives it: its columns in order. */
export type Values = readonly unknown[]

export const keptLimits = {
  ageMsMax: 900_000,
  // A row takes about 200 bytes. The largest result, a thousand pages of 10,000 rows, fits several times.
  bytesMax: 12 * 1024 ** 3,
  /** The limit of one key, so that no key evicts the results that others are paging through. */
  bytesPerOwnerMax: 3 * 1024 ** 3,
  resultsMax: 1_000,
  resultsPerOwnerMax: 100,
  /** Must stay free, because the spool is on the same disk and events come first. */
  freeBytesMin: 268_435_456,
  sweepPauseMs: 60_000,
} as const

export interface KeptPagesOptions {
  /** Emptied at the start, because results do not outlive the process that kept them. */
  readonly folder: string
  readonly clock: Clock
  readonly limits?: Partial<KeptLimits>
  /** Reads the free bytes of the disk. */
  readonly readFreeBytes?: () => Promise<number>
}

type KeptLimits = Readonly<Record<keyof typeof keptLimits, number>>

export interface KeptTotals {
  readonly totalRows: number
  readonly unconvertedCount: number
  readonly completeThrough: string | null
  readonly renewingDays?: readonly string[]
}

export interface KeptPage<Row> extends KeptTotals {
  /** Pages with the same id are cut from the same rows. */
  readonly resultId: string
  /** None behind the last page. */
  readonly rows: readonly Row[]
}

/** A request for a kept page. */
export interface KeptQuestion {
  /** `questionOf` of everything but the page. */
  readonly question: string
  /** The key whose result it is. */
  readonly owner: string
  readonly page: number
  readonly limit: number
}

interface KeptResult {
  readonly totals: KeptTotals & { readonly resultId: string }
  readonly owner: string
  readonly path: string
  readonly keptAtMs: number
  readonly byteCount: number
  /** Where each page begins in the file; one more for the end. */
  readonly pageOffsets: readonly number[]
  /** Uses the names that the catalog had, so that all pages show the same. */
  readonly format: (values: Values) => object
}

interface Source<Row extends object> {
  readonly totals: KeptTotals
  readonly blocks: AsyncIterable<readonly Values[]>
  readonly format: (values: Values) => Row
}

/** A result that is being written. Its bytes count already. */
interface Writing {
  readonly owner: string
  byteCount: number
}

export class KeptPages {
  readonly #folder: string
  readonly #clock: Clock
  readonly #limits: KeptLimits
  readonly #readFreeBytes: () => Promise<number>
  /** By question, the oldest first. */
  readonly #results = new Map<string, KeptResult>()
  readonly #writing = new Set<Writing>()
  readonly #sweeping: NodeJS.Timeout

  constructor(options: KeptPagesOptions) {
    const { folder, clock } = options
    this.#folder = folder
    this.#clock = clock
    this.#limits = { ...keptLimits, ...options.limits }
    this.#readFreeBytes = options.readFreeBytes ?? (() => freeBytesOf(folder))
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#sweeping = setInterval(() => this.sweep(), this.#limits.sweepPauseMs).unref()
  }

  /**
   * A page of the kept result of the question, or null if there is none or it is too old. The rows have the
   * type that was kept under the question.
   */
  async read<Row>({ question, page }: KeptQuestion): Promise<KeptPage<Row> | null> {
    const result = this.#results.get(question)
    if (result === undefined || this.#isOld(result)) return null
    return await readPage<Row>(result, page)
  }

  /** Writes the rows, replaces what was kept for the question, and returns the page asked for. */
  async keep<Row extends object>(
    asked: KeptQuestion,
    { totals, blocks, format }: Source<Row>
  ): Promise<KeptPage<Row>> {
    const resultId = randomUUID()
    const path = join(this.#folder, resultId)
    const writing: Writing = { owner: asked.owner, byteCount: 0 }
    this.#writing.add(writing)
    try {
      const pageOffsets = await this.#write(path, { blocks, limit: asked.limit, writing })
      const result: KeptResult = {
        totals: { ...totals, resultId },
        owner: asked.owner,
        path,
        keptAtMs: this.#clock(),
        byteCount: writing.byteCount,
        pageOffsets,
        format,
      }
      this.#forget(asked.question)
      this.#results.set(asked.question, result)
      return await readPage<Row>(result, asked.page)
    } catch (error) {
      // The result may be listed already, and must not be found there without its file.
      if (this.#results.get(asked.question)?.path === path) this.#results.delete(asked.question)
      await rm(path, { force: true })
      throw error
    } finally {
      this.#writing.delete(writing)
    }
  }

  /** Removes what is too old. */
  sweep(): void {
    for (const [question, result] of this.#results) {
      if (this.#isOld(result)) this.#forget(question)
    }
  }

  close(): void {
    clearInterval(this.#sweeping)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #write(
    path: string,
    source: {
      readonly blocks: AsyncIterable<readonly Values[]>
      readonly limit: number
      readonly writing: Writing
    }
  ): Promise<readonly number[]> {
    const { blocks, limit, writing } = source
    const file = await open(path, 'wx', 0o600)
    const pageOffsets = [0]
    let rowCount = 0
    try {
      for await (const block of blocks) {
        const lines: string[] = []
        let end = writing.byteCount
        for (const row of block) {
          const line = `${JSON.stringify(row)}\n`
          lines.push(line)
          end += Buffer.byteLength(line)
          rowCount += 1
          if (rowCount % limit === 0) pageOffsets.push(end)
        }
        const byteCount = end - writing.byteCount
        writing.byteCount = end
        await this.#makeRoom(writing.owner, byteCount)
        await file.appendFile(lines.join(''))
      }
    } finally {
      await file.close()
    }
    if (pageOffsets.at(-1) !== writing.byteCount) pageOffsets.push(writing.byteCount)
    return pageOffsets
  }

  /** Makes room for bytes that are about to be written; the counts below include them already. */
  async #makeRoom(owner: string, byteCount: number): Promise<void> {
    const { bytesPerOwnerMax, bytesMax, resultsPerOwnerMax, resultsMax, freeBytesMin } =
      this.#limits
    const isOwn = (one: { readonly owner: string }) => one.owner === owner
    while (this.#bytes(isOwn) > bytesPerOwnerMax || this.#count(isOwn) > resultsPerOwnerMax) {
      this.#evict(isOwn)
    }
    while (this.#bytes() > bytesMax || this.#count() > resultsMax) this.#evictFromLargest()
    let freeBytes = await this.#readFreeBytes()
    while (freeBytes - byteCount < freeBytesMin) {
      this.#evictFromLargest()
      freeBytes = await this.#readFreeBytes()
    }
  }

  #bytes(isMeant: (one: { readonly owner: string }) => boolean = () => true): number {
    const all = [...this.#results.values(), ...this.#writing].filter(isMeant)
    return all.reduce((sum, one) => sum + one.byteCount, 0)
  }

  #count(isMeant: (one: { readonly owner: string }) => boolean = () => true): number {
    return [...this.#results.values(), ...this.#writing].filter(isMeant).length
  }

  /** Evicts from the key that holds the most, so that one key's results never cost others theirs. */
  #evictFromLargest(): void {
    const bytesByOwner = new Map<string, number>()
    for (const { owner, byteCount } of this.#results.values()) {
      bytesByOwner.set(owner, (bytesByOwner.get(owner) ?? 0) + byteCount)
    }
    const [largest] = [...bytesByOwner].toSorted(([, one], [, other]) => other - one)
    this.#evict(({ owner }) => owner === largest?.[0])
  }

  /** Evicts the oldest result that matches. */
  #evict(isMeant: (one: KeptResult) => boolean): void {
    for (const [question, result] of this.#results) {
      if (!isMeant(result)) continue
      this.#forget(question)
      return
    }
    throw new ServiceError('REPORT_STORE_FULL', 'no room is left for a result of several pages', {
      details: { keptBytes: this.#bytes() },
    })
  }

  #isOld({ keptAtMs }: KeptResult): boolean {
    return this.#clock() - keptAtMs > this.#limits.ageMsMax
  }

  /** Readers that have the file open can go on; the system removes it when they close it. */
  #forget(question: string): void {
    const result = this.#results.get(question)
    if (result === undefined) return
    this.#results.delete(question)
    rmSync(result.path, { force: true })
  }
}

/** Names a question by who asks for what, without the page. */
export function questionOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

const readAt = promisify(read)

/**
 * Opens the file in the same turn in which the result was found, so that no eviction comes between the
 * totals and the rows.
 */
async function readPage<Row>(
  { totals, path, pageOffsets, format }: KeptResult,
  page: number
): Promise<KeptPage<Row>> {
  const [from, to] = [pageOffsets[page], pageOffsets[page + 1]]
  if (from === undefined || to === undefined) return { ...totals, rows: [] }
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.allocUnsafe(to - from)
    const { bytesRead } = await readAt(file, bytes, 0, bytes.length, from)
    assert(bytesRead === bytes.length, 'a page of a kept result is there as it was written')
    const lines = bytes.toString().split('\n').slice(0, -1)
    // Written by this process, with the format of the type of row that is kept under the question.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ...totals, rows: lines.map((line) => format(JSON.parse(line) as Values)) as Row[] }
  } finally {
    closeSync(file)
  }
}
