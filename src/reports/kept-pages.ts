// Keeps results of more than one page in files. So all pages of a result are cut from the same rows while
// events arrive, and no row is repeated or skipped.

import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { KeptResult } from './kept-result.ts'
import type { KeptPage, Source } from './kept-result.ts'
import { SharedQuestions } from './shared-questions.ts'
import { WritingRoom } from './writing-room.ts'

export const keptLimits = {
  /** Counted from the moment at which a result is whole. */
  ageMsMax: 900_000,
  /** Writing that takes longer ends as soon as nobody waits for a page. The largest result takes about a minute. */
  writingMsMax: 300_000,
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
  /** Called when a result could not be written to its end. Callers that wait for a page of it get the error too. */
  readonly onFailure?: (error: Error) => void
}

type KeptLimits = Readonly<Record<keyof typeof keptLimits, number>>

/** A request for a kept page. */
export interface KeptQuestion {
  /** `questionOf` of everything but the page. */
  readonly question: string
  /** The key whose result it is. */
  readonly owner: string
  readonly page: number
  readonly limit: number
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
}

export type PageAsked = Pick<KeptQuestion, 'question' | 'page' | 'signal'>

interface Entry {
  readonly question: string
  readonly result: KeptResult
  /** While it is written, it does not grow old. */
  keptAtMs: number
}

export class KeptPages {
  /** What is being computed, and may become a kept result. */
  readonly questions = new SharedQuestions()
  readonly #folder: string
  readonly #clock: Clock
  readonly #limits: KeptLimits
  readonly #readFreeBytes: () => Promise<number>
  readonly #onFailure: (error: Error) => void
  /** By question, the oldest first. */
  readonly #entries = new Map<string, Entry>()
  /** Their bytes count, whether they can still be found or not. */
  readonly #writing = new Set<KeptResult>()
  readonly #room = new WritingRoom()
  /** Questions whose last result could not be written, the oldest first. */
  readonly #failed = new Set<string>()
  readonly #sweeping: NodeJS.Timeout

  constructor(options: KeptPagesOptions) {
    const { folder, clock } = options
    this.#folder = folder
    this.#clock = clock
    this.#limits = { ...keptLimits, ...options.limits }
    this.#readFreeBytes = options.readFreeBytes ?? (() => freeBytesOf(folder))
    this.#onFailure = options.onFailure ?? (() => {})
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#sweeping = setInterval(() => this.sweep(), this.#limits.sweepPauseMs).unref()
  }

  /**
   * A page of the kept result of the question, or null if there is none or it is too old. The rows have the
   * type that was kept under the question.
   */
  async read<Row>({ question, page, signal }: KeptQuestion): Promise<KeptPage<Row> | null> {
    const entry = this.#entries.get(question)
    if (entry === undefined || this.#isOld(entry)) return null
    // It is about to be forgotten.
    if (entry.result.isWriting && entry.result.isAborted) return null
    return await this.page<Row>(entry.result, { question, page, signal })
  }

  /** Begins to write a result, which takes the place of what was kept for the question. */
  async begin<Row extends object>(
    { question, owner, limit }: Pick<KeptQuestion, 'question' | 'owner' | 'limit'>,
    source: Source<Row>
  ): Promise<KeptResult> {
    const id = randomUUID()
    const { writingMsMax } = this.#limits
    const result = await KeptResult.begin(
      {
        id,
        path: join(this.#folder, id),
        owner,
        limit,
        writingMsMax,
        makeRoom: (byteCount) => this.#makeRoom(owner, byteCount),
      },
      source
    )
    this.#writing.add(result)
    this.drop(question)
    const entry: Entry = { question, result, keptAtMs: this.#clock() }
    this.#entries.set(question, entry)
    void result.ended.then(() => this.#noteEnd(entry))
    return result
  }

  /**
   * A page of a result, once it is written and the rest can be written without the reader's place. If the last
   * result of the question could not be written, this one has to be whole first: otherwise each page would be
   * answered from another result, and the failure never shown.
   */
  async page<Row>(
    result: KeptResult,
    { question, page, signal }: PageAsked
  ): Promise<KeptPage<Row>> {
    return await result.page<Row>(page, signal, () =>
      this.#failed.has(question) ? result.ended : this.#room.enter(result)
    )
  }

  /** What was kept for the question is not found any more. Who is reading it can go on. */
  drop(question: string): void {
    const entry = this.#entries.get(question)
    if (entry === undefined) return
    this.#entries.delete(question)
    entry.result.drop()
  }

  /** Removes what is too old. */
  sweep(): void {
    for (const entry of this.#entries.values()) {
      if (this.#isOld(entry)) this.drop(entry.question)
    }
  }

  /** Resolves when what is being written has ended. */
  async whenWritten(): Promise<void> {
    await Promise.all([...this.#writing].map(({ ended }) => ended))
  }

  /** Ends what is being written. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await this.questions.close()
    for (const result of this.#writing) void result.abort()
    await this.whenWritten()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #noteEnd(entry: Entry): void {
    const { question, result } = entry
    this.#writing.delete(result)
    entry.keptAtMs = this.#clock()
    if (result.failure === null) {
      this.#failed.delete(question)
      return
    }
    if (this.#entries.get(question) === entry) this.drop(question)
    if (result.isAborted) return
    this.#noteFailed(question)
    this.#onFailure(result.failure)
  }

  #noteFailed(question: string): void {
    this.#failed.delete(question)
    this.#failed.add(question)
    const [oldest] = this.#failed
    if (this.#failed.size > this.#limits.resultsMax && oldest !== undefined) {
      this.#failed.delete(oldest)
    }
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
    return this.#all()
      .filter(isMeant)
      .reduce((sum, { byteCount }) => sum + byteCount, 0)
  }

  #count(isMeant: (one: { readonly owner: string }) => boolean = () => true): number {
    return this.#all().filter(isMeant).length
  }

  #all(): readonly KeptResult[] {
    const kept = [...this.#entries.values()].map(({ result }) => result)
    return [...new Set([...kept, ...this.#writing])]
  }

  /** Those that are written already: of the others, somebody may be reading a page. */
  #evictable(): readonly Entry[] {
    return [...this.#entries.values()].filter(({ result }) => !result.isWriting)
  }

  /** Evicts from the key that holds the most, so that one key's results never cost others theirs. */
  #evictFromLargest(): void {
    const bytesByOwner = new Map<string, number>()
    for (const { result } of this.#evictable()) {
      const { owner, byteCount } = result
      bytesByOwner.set(owner, (bytesByOwner.get(owner) ?? 0) + byteCount)
    }
    const [largest] = [...bytesByOwner].toSorted(([, one], [, other]) => other - one)
    this.#evict(({ owner }) => owner === largest?.[0])
  }

  /** Evicts the oldest result that matches. */
  #evict(isMeant: (one: KeptResult) => boolean): void {
    const oldest = this.#evictable().find(({ result }) => isMeant(result))
    if (oldest !== undefined) {
      this.drop(oldest.question)
      return
    }
    throw new ServiceError('REPORT_STORE_FULL', 'no room is left for a result of several pages', {
      details: { keptBytes: this.#bytes() },
    })
  }

  #isOld({ result, keptAtMs }: Entry): boolean {
    return !result.isWriting && this.#clock() - keptAtMs > this.#limits.ageMsMax
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
