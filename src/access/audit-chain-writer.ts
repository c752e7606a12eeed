// Puts records into the chain of this writer. Each process has a chain of its own, so that nodes which write
// at once need no lock; the chains name each other's heads instead (docs/decisions/0034).
import { randomUUID } from 'node:crypto'
import {
  hashRecord,
  noHash,
  printHead,
  type AuditHead,
  type ChainedRecord,
} from '../domain/audit-chain.ts'
import type { Clock } from '../lib/clock.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

/** A record before it has its place in the chain. */
export type UnchainedRecord = Pick<
  ChainedRecord,
  'at' | 'id' | 'keyId' | 'keyName' | 'action' | 'subject' | 'details'
>

export const chainLimits = {
  /** How long the tail of another chain may stay unnamed while this one grows. */
  headsEveryMs: 600_000,
  /** Heads that one record names; more are named by later ones. */
  headsMax: 100,
} as const

export class AuditChainWriter {
  readonly #warehouse: Pick<Warehouse, 'rows' | 'barrier'>
  readonly #clock: Clock
  /** Null: the next record begins a chain. */
  #last: AuditHead | null = null
  #namedAtMs = 0

  constructor(options: {
    readonly warehouse: Pick<Warehouse, 'rows' | 'barrier'>
    readonly clock: Clock
  }) {
    this.#warehouse = options.warehouse
    this.#clock = options.clock
  }

  /**
   * Writes the records through `insert` as the next ones of the chain. If that fails, nobody knows whether
   * they were stored, so the chain ends there and the next record begins another one, which names what is
   * stored of this one.
   */
  async write(
    records: readonly UnchainedRecord[],
    insert: (chained: readonly ChainedRecord[]) => Promise<void>
  ): Promise<AuditHead | null> {
    const before = this.#last
    this.#last = null
    const nowMs = this.#clock()
    const isDue = before === null || Math.abs(nowMs - this.#namedAtMs) >= chainLimits.headsEveryMs
    const heads = isDue ? await this.#readHeads(before) : []
    const chained = chain(records, { before, heads })
    await insert(chained)
    const last = chained.at(-1) ?? before
    this.#last = last
    if (isDue) this.#namedAtMs = nowMs
    return last
  }

  /** The ends of other chains that no record names yet, the longest known first. */
  async #readHeads(own: AuditHead | null): Promise<readonly string[]> {
    await this.#warehouse.barrier(['audit'])
    const rows = await this.#warehouse.rows<AuditHead>(
      `SELECT writer, sequence, hash FROM audit
       WHERE (writer, sequence) IN (
         SELECT writer, max(sequence) FROM audit WHERE writer != '' GROUP BY writer
       ) AND writer != {own:String}
         AND concat(writer, ':', toString(sequence), ':', hash) NOT IN (
           SELECT arrayJoin(heads) FROM audit WHERE notEmpty(heads)
         )
       ORDER BY at, id LIMIT {headsMax:UInt32}`,
      { own: own?.writer ?? '', headsMax: chainLimits.headsMax }
    )
    return rows.map(printHead)
  }
}

function chain(
  records: readonly UnchainedRecord[],
  { before, heads }: { readonly before: AuditHead | null; readonly heads: readonly string[] }
): readonly ChainedRecord[] {
  const writer = before?.writer ?? randomUUID()
  let sequence = before?.sequence ?? 0
  let previousHash = before?.hash ?? noHash
  return records.map((record, index) => {
    sequence += 1
    const place = { writer, sequence, previousHash, heads: index === 0 ? heads : [] }
    const placed = { ...record, ...place }
    previousHash = hashRecord(placed)
    return { ...placed, hash: previousHash }
  })
}
