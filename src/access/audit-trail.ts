import { randomUUID } from 'node:crypto'
import type { AuditAction, AuditEntry } from '../contract/audit.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import type { ParamValue, Params, Warehouse } from '../warehouse/warehouse.ts'
import type { AccessKey } from './key.ts'

export interface AuditRecord {
  /** Who did it: the key of the call. */
  readonly key: AccessKey | null
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
  readonly line: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Bounds names and lists that callers choose, because records are kept for good. */
const detailsLengthMax = 20_000

/**
 * Records who changed what and when. A record is written after its change and before the answer. If the
 * write fails, the caller gets an error and repeats the call, which is safe for every change. So no change
 * is answered without being recorded.
 */
export class AuditTrail {
  readonly #warehouse: Pick<Warehouse, 'insert' | 'rows'>
  readonly #clock: Clock
  #lastMicros = 0
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(options: {
    readonly warehouse: Pick<Warehouse, 'insert' | 'rows'>
    readonly clock: Clock
  }) {
    this.#warehouse = options.warehouse
    this.#clock = options.clock
  }

  /** Resolves when the record is on disk. What waits is bounded by the requests under way. */
  async record({ key, action, subject, details = {} }: AuditRecord): Promise<void> {
    assert(key !== null, 'a change has an author')
    const text = JSON.stringify(details)
    const row = {
      at: formatMicros(this.#nextMicros()),
      id: randomUUID(),
      key_id: key.id,
      key_name: key.name,
      action,
      subject,
      details: text.length > detailsLengthMax ? JSON.stringify({ isTooLong: true }) : text,
    }
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ line: JSON.stringify(row), resolve, reject })
    })
    if (!this.#isWriting) void this.#write()
    await written
  }

  async find(question: AuditQuestion): Promise<readonly FoundAudit[]> {
    const { conditions, params } = conditionsOf(question)
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
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#warehouse.insert(
          'audit',
          Buffer.from(`${batch.map(({ line }) => line).join('\n')}\n`)
        )
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isWriting = false
  }

  /** Always growing: records of one node keep their order within a millisecond too. */
  #nextMicros(): number {
    this.#lastMicros = Math.max(this.#clock() * 1_000, this.#lastMicros + 1)
    return this.#lastMicros
  }
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

/** As the warehouse reads it. */
function formatMicros(micros: number): string {
  return printMicros(micros).replace('T', ' ').replace('Z', '')
}

function printMicros(micros: number): string {
  const ms = Math.floor(micros / 1_000)
  const rest = String(micros - ms * 1_000).padStart(3, '0')
  return new Date(ms).toISOString().replace('Z', `${rest}Z`)
}
