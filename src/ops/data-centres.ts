// The operator's list of data centres. Its file is read again and again, so that a new list needs no restart.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Logger } from 'pino'
import { networkListLimits, parseNetworkList } from '../http/network-list.ts'
import type { NetworkList } from '../http/network-list.ts'
import { Loop } from '../lib/loop.ts'
import { systemCode } from '../lib/system-error.ts'

const pollMs = 5_000
const pollMsMax = 30_000

const variable = 'SHELFTRACE_DATACENTER_NETWORKS'

export interface DataCentresOptions {
  /** Null: there is no list. */
  readonly path: string | null
  readonly log: Pick<Logger, 'info' | 'error'>
  readonly pollMs?: number
}

/** What the status tells. */
export interface DataCentresState {
  /** Null: no list was fit yet, and nothing is from a data centre. */
  readonly version: string | null
  readonly ranges: number
  /** Why the file as it is now is not taken; empty if it is. */
  readonly faults: readonly string[]
}

type Reading = Buffer | string

/**
 * Resolves after the first reading, whether the file is fit or not: without a list events count, without a
 * tracker they are lost.
 */
export async function openDataCentres({
  path,
  ...options
}: DataCentresOptions): Promise<DataCentres | null> {
  if (path === null) return null
  const list = new DataCentres({ ...options, path })
  await list.readFirst()
  return list
}

export class DataCentres {
  readonly #options: DataCentresOptions & { readonly path: string }
  #list: NetworkList | null = null
  #faults: readonly string[] = []
  #lastRead: Reading | null = null
  #lastJudged: Reading | null = null
  #polling: Loop | null = null

  constructor(options: DataCentresOptions & { readonly path: string }) {
    this.#options = options
  }

  /**
   * The version of the list if it has the address, else null. An unknown address counts as one of the list:
   * any caller can hide theirs by breaking off the connection, and no shopper gains by it.
   */
  readonly listOf = (address: string | null): string | null => {
    if (this.#list === null) return null
    return address === null || this.#list.has(address) ? this.#list.version : null
  }

  state(): DataCentresState {
    const { version = null, rangeCount = 0 } = this.#list ?? {}
    return { version, ranges: rangeCount, faults: this.#faults }
  }

  async readFirst(): Promise<void> {
    this.#lastRead = await readContent(this.#options.path)
    this.#judge(this.#lastRead)
  }

  watch(): void {
    this.#polling ??= new Loop({
      step: async () => {
        await this.check()
        return false
      },
      pauseMs: this.#options.pollMs ?? pollMs,
      failurePauseMsMax: pollMsMax,
      onFailure: (err) =>
        this.#options.log.error({ err }, 'the list of data centres could not be checked'),
    })
  }

  /** One look. Content counts when two looks in a row find the same, since it may be half written. */
  async check(): Promise<void> {
    const reading = await readContent(this.#options.path)
    const isSettled = isSame(reading, this.#lastRead)
    this.#lastRead = reading
    if (isSettled && !isSame(reading, this.#lastJudged)) this.#judge(reading)
  }

  async close(): Promise<void> {
    await this.#polling?.stop()
  }

  #judge(reading: Reading): void {
    const { log } = this.#options
    this.#lastJudged = reading
    const parsed =
      typeof reading === 'string'
        ? { ok: false as const, faults: [reading] }
        : parseNetworkList(reading)
    if (parsed.ok) {
      this.#list = parsed.list
      this.#faults = []
      const { version, rangeCount } = parsed.list
      log.info({ version, ranges: rangeCount }, 'the list of data centres is read')
      return
    }
    this.#faults = parsed.faults.map((fault) => `${variable}: ${fault}`)
    log.error(
      { reasons: this.#faults, version: this.#list?.version ?? null },
      'the list of data centres is not taken, the one before goes on'
    )
  }
}

function isSame(one: Reading, other: Reading | null): boolean {
  if (typeof one === 'string' || typeof other === 'string' || other === null) return one === other
  return one.equals(other)
}

/** The bytes of the file, or the rule that it breaks. */
async function readContent(path: string): Promise<Reading> {
  try {
    // Without O_NONBLOCK, a pipe would hold a thread until somebody writes to it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const facts = await file.stat()
      const isFit = facts.isFile() && facts.size <= networkListLimits.bytesMax
      return isFit ? await file.readFile() : 'must name a file of at most 16 MiB'
    } finally {
      await file.close()
    }
  } catch (error) {
    return `must name a readable file (${String(systemCode(error))})`
  }
}
