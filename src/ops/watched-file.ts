// Files of the operator that are read again and again, so that a new content needs no restart. Contents are
// compared, since no date or notice of a file is reliable everywhere.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { Loop } from '../lib/loop.ts'
import { systemCode } from '../lib/system-error.ts'

const mebibyte = 1_048_576

/** The bytes of a file, or the rule that it breaks. `bytesMax` is a whole number of MiB. */
export async function readContent(path: string, bytesMax: number): Promise<Buffer | string> {
  try {
    // Without O_NONBLOCK, a pipe would hold a thread until somebody writes to it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const facts = await file.stat()
      if (facts.isDirectory()) return 'must name a file, not a folder'
      const isFit = facts.isFile() && facts.size <= bytesMax
      return isFit
        ? await file.readFile()
        : `must name a file of at most ${bytesMax / mebibyte} MiB`
    } finally {
      await file.close()
    }
  } catch (error) {
    return `must name a readable file (${String(systemCode(error))})`
  }
}

export interface WatchOptions<Reading> {
  readonly read: () => Promise<Reading>
  /** What was read and judged at the start. */
  readonly first: Reading
  /** Gets each new content once. */
  readonly judge: (reading: Reading) => void
}

export interface Polling {
  readonly pauseMs: number
  readonly failurePauseMsMax: number
  /** One look, and whatever else belongs to it. */
  readonly check: () => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/**
 * A content counts when two looks in a row find the same, since it may be half written, and files that belong
 * together are never replaced at the same instant.
 */
export class WatchedFile<Reading> {
  readonly #options: WatchOptions<Reading>
  #lastRead: Reading
  #lastJudged: Reading
  #polling: Loop | null = null

  constructor(options: WatchOptions<Reading>) {
    this.#options = options
    this.#lastRead = options.first
    this.#lastJudged = options.first
  }

  /** One look. */
  async check(): Promise<void> {
    const reading = await this.#options.read()
    const isSettled = isDeepStrictEqual(reading, this.#lastRead)
    this.#lastRead = reading
    if (!isSettled || isDeepStrictEqual(reading, this.#lastJudged)) return
    this.#lastJudged = reading
    this.#options.judge(reading)
  }

  /** Looks every few moments until closed. */
  watch({ check, ...polling }: Polling): void {
    this.#polling ??= new Loop({
      step: async () => {
        await check()
        return false
      },
      ...polling,
    })
  }

  async close(): Promise<void> {
    await this.#polling?.stop()
  }
}
