import { randomUUID } from 'node:crypto'
import type { AuditAction, AuditEntry } from '../contract/audit.ts'
import { printHead, type ChainedRecord } from '../domain/audit-chain.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import type { ParamValue, Params, Warehouse } from '../warehouse/warehouse.ts'
import { printDetails } from './audit-details.ts'
import { AuditChainWriter, type UnchainedRecord } from './audit-chain-writer.ts'
import type { AccessKey } from './key.ts'

export interface AuditRecord {
  /** Who did it: the key of the call. */
  readonly key: Pick<AccessKey, 'id' | 'name'> | null
  readonly action: AuditAction
  /** What it was done to: an id or a count, never a secret. */
  readonly subject: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** The place of a record in the total order: its instant in microseconds, then its id. */
export interface AuditPlace {
  readonly atMicros: number
  readonly id: string
}

export interface AuditQuestion {
  /** Milliseconds since 1970 UTC; from belongs to the range, to does not. */
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly action: AuditAction | null
  readonly keyId: string | null
  /** Only records older than this one. */
  readonly after: AuditPlace | null
  readonly limit: number
}

interface FoundAudit {
  readonly entry: AuditEntry
  readonly place: AuditPlace
}

interface Waiting {
  readonly record: UnchainedRecord
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const batchMax = 1_000

/** A head in the log is one that is kept elsewhere, if the log is. */
const logHeadEveryMs = 600_000

type AuditLog = { readonly info: (fields: object, message: string) => void }

/**
 * Records who changed what and when, in a chain of hashes. A record is written after its change and before the
 * answer. If the write fails, the caller gets an error and repeats the call, which is safe for every change. So no
 * change is answered without being recorded. A change that cannot be repeated is recorded before it is made.
 */
export class AuditTrail {
  readonly #warehouse: Pick<Warehouse, 'insert' | 'rows' | 'barrier'>
  readonly #clock: Clock
  readonly #log: AuditLog | null
  readonly #chain: AuditChainWriter
  #lastMicros = 0
  #waiting: Waiting[] = []
  #isWriting = false
  #loggedAtMs = -Infinity

  constructor(options: {
    readonly warehouse: Pick<Warehouse, 'insert' | 'rows' | 'barrier'>
    readonly clock: Clock
    /** Gets the head of the chain from time to time. */
    readonly log?: AuditLog
  }) {
    this.#warehouse = options.warehouse
    this.#clock = options.clock
    this.#log = options.log ?? null
    this.#chain = new AuditChainWriter(options)
  }

  /** Resolves when the record is on disk. What waits is bounded by the requests under way. */
  async record({ key, action, subject, details = {} }: AuditRecord): Promise<void> {
    assert(key !== null, 'a change has an author')
    const record: UnchainedRecord = {
      at: printMicros(this.#nextMicros()),
      id: randomUUID(),
      keyId: key.id,
      keyName: wellFormed(key.name),
      action,
      subject: wellFormed(subject),
      details: printDetails(details),
    }
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject })
    })
    if (!this.#isWriting) void this.#write()
    await written
  }

  async find(question: AuditQuestion): Promise<readonly FoundAudit[]> {
    const { conditions, params } = conditionsOf(question)
    await this.#warehouse.barrier(['audit'])
    const rows = await this.#warehouse.rows<AuditRow>(
      `SELECT toUnixTimestamp64Micro(at) AS atMicros, id, key_id AS keyId, key_name AS keyName,
         action, subject, details
       FROM audit ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
       ORDER BY at DESC, id DESC LIMIT {limit:UInt32}`,
      { ...params, limit: question.limit }
    )
    return rows.map(({ atMicros, details, ...row }) => ({
      place: { atMicros, id: row.id },
      entry: { ...row, at: printMicros(atMicros), details: JSON.parse(details) },
    }))
  }

  /**
   * Writes what waits, then what came meanwhile, in one insert each: an ad server mints many times
   * a second, and the engine dislikes as many inserts.
   */
  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, sizeOfBatch(this.#waiting))
      try {
        const head = await this.#chain.write(
          batch.map(({ record }) => record),
          (chained) => this.#insert(chained)
        )
        if (head !== null) this.#logHead(printHead(head))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isWriting = false
  }

  async #insert(chained: readonly ChainedRecord[]): Promise<void> {
    const lines = chained.map((record) => `${JSON.stringify(toRow(record))}\n`)
    await this.#warehouse.insert('audit', Buffer.from(lines.join('')))
  }

  #logHead(head: string): void {
    const nowMs = this.#clock()
    if (Math.abs(nowMs - this.#loggedAtMs) < logHeadEveryMs) return
    this.#loggedAtMs = nowMs
    this.#log?.info({ head }, 'head of the audit')
  }

  /** Always growing: records of one node keep their order within a millisecond too. */
  #nextMicros(): number {
    this.#lastMicros = Math.max(this.#clock() * 1_000, this.#lastMicros + 1)
    return this.#lastMicros
  }
}

/** Of one month only: an insert into two partitions could be stored in part, and leave a gap. */
function sizeOfBatch(waiting: readonly Waiting[]): number {
  const monthOf = (index: number) => waiting[index]?.record.at.slice(0, 'yyyy-mm'.length)
  let size = 1
  while (size < Math.min(batchMax, waiting.length) && monthOf(size) === monthOf(0)) size += 1
  return size
}

function toRow(record: ChainedRecord) {
  const { at, keyId, keyName, previousHash, ...same } = record
  return {
    ...same,
    at: at.replace('T', ' ').replace('Z', ''),
    key_id: keyId,
    key_name: keyName,
    previous_hash: previousHash,
  }
}

/** As UTF-8 brings it back: what is hashed must be what is stored. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}

interface AuditRow {
  readonly atMicros: number
  readonly id: string
  readonly keyId: string
  readonly keyName: string
  readonly action: string
  readonly subject: string
  readonly details: string
}

function conditionsOf({ fromMs, toMs, action, keyId, after }: AuditQuestion) {
  const conditions: string[] = []
  const params: Record<string, ParamValue> = {}
  const add = (condition: string, values: Params) => {
    conditions.push(condition)
    Object.assign(params, values)
  }
  if (fromMs !== null) add('at >= fromUnixTimestamp64Milli({fromMs:Int64})', { fromMs })
  if (toMs !== null) add('at < fromUnixTimestamp64Milli({toMs:Int64})', { toMs })
  if (action !== null) add('action = {action:String}', { action })
  if (keyId !== null) add('key_id = {keyId:String}', { keyId })
  if (after !== null) {
    const instant = 'fromUnixTimestamp64Micro({afterMicros:Int64})'
    add(`(at < ${instant} OR (at = ${instant} AND id < {afterId:String}))`, {
      afterMicros: after.atMicros,
      afterId: after.id,
    })
  }
  return { conditions, params }
}

export function printMicros(micros: number): string {
  const ms = Math.floor(micros / 1_000)
  const rest = String(micros - ms * 1_000).padStart(3, '0')
  return new Date(ms).toISOString().replace('Z', `${rest}Z`)
}
