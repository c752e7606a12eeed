// The operator's list of data centres. Its file is read again and again, so that a new list needs no restart.

import type { Logger } from 'pino'
import { networkListLimits, parseNetworkList } from '../http/network-list.ts'
import type { NetworkList } from '../http/network-list.ts'
import { readContent, WatchedFile } from './watched-file.ts'

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
  const first = await readList(path)
  return new DataCentres({ ...options, path }, first)
}

export class DataCentres {
  readonly #options: DataCentresOptions & { readonly path: string }
  #list: NetworkList | null = null
  #faults: readonly string[] = []
  readonly #file: WatchedFile<Reading>

  constructor(options: DataCentresOptions & { readonly path: string }, first: Reading) {
    this.#options = options
    this.#file = new WatchedFile({
      read: () => readList(options.path),
      first,
      judge: (reading) => this.#judge(reading),
    })
    this.#judge(first)
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

  watch(): void {
    this.#file.watch({
      pauseMs: this.#options.pollMs ?? pollMs,
      failurePauseMsMax: pollMsMax,
      check: () => this.check(),
      onFailure: (err) =>
        this.#options.log.error({ err }, 'the list of data centres could not be checked'),
    })
  }

  /** One look; content counts when two in a row find the same. */
  async check(): Promise<void> {
    await this.#file.check()
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  #judge(reading: Reading): void {
    const { log } = this.#options
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
      this.#list === null
        ? 'the list of data centres is not taken, and there is none before it: nothing counts as from a data centre'
        : 'the list of data centres is not taken, the one before goes on'
    )
  }
}

const readList = (path: string): Promise<Reading> => readContent(path, networkListLimits.bytesMax)
