import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import type { AccessKey } from '../../access/key.ts'
import type { EventsResult } from '../../contract/event-lines.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import { handle } from '../handle.ts'
import type { SpoolRecord } from '../../spool/record.ts'
import type { AdminDeps } from './deps.ts'
import { toRecord } from './event-record.ts'
import { foreignTextFault, readLines, type Line } from './line-reader.ts'

type BackfillDeps = Pick<AdminDeps, 'spool' | 'openTrackingData' | 'hashIdentity' | 'clock'>

export const limits = {
  /** Records that wait for the disk at once. */
  inFlightMax: 5_000,
  /** Their lines together; a quarter of what the spool takes, so that live events find room. */
  inFlightBytesMax: 8_388_608,
  /** Lines listed by number; the rest is counted. */
  refusedMax: 1_000,
} as const

/**
 * Events of the past, one per line. Answered when every accepted line is on disk. Repeating a backfill
 * that broke off counts nothing twice: the natural keys of the events see to that.
 */
export function createBackfill(deps: BackfillDeps, audit: AuditTrail): HandlerTable {
  return handle(adminOperations.backfillEvents, async ({ key, body }) => {
    const backfill = new Backfill(deps, key)
    try {
      for await (const lines of readLines(body)) {
        const fault = lines[0] === undefined ? null : fileFault(lines[0])
        if (fault !== null) return refuse('REQUEST_INVALID', [`body ${fault}`])
        await backfill.take(lines)
      }
      await backfill.flush()
    } finally {
      // Also of one that broke off: what was accepted stays.
      const { accepted, refusedCount } = backfill.result()
      const subject = `${accepted} accepted, ${refusedCount} refused`
      await audit.record({ key, action: 'events.backfill', subject })
    }
    return answerJson(200, backfill.result())
  })
}

class Backfill {
  readonly #deps: BackfillDeps
  readonly #key: AccessKey
  readonly #refused: { readonly line: number; readonly messages: readonly string[] }[] = []
  #refusedCount = 0
  #acceptedCount = 0
  #waiting: SpoolRecord[] = []
  #waitingBytes = 0

  constructor(deps: BackfillDeps, key: AccessKey) {
    this.#deps = deps
    this.#key = key
  }

  async take(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      if (line.bytes !== null && isBlank(line.bytes)) continue
      this.#takeLine(line)
      const isFull =
        this.#waiting.length >= limits.inFlightMax || this.#waitingBytes >= limits.inFlightBytesMax
      if (isFull) await this.flush()
    }
  }

  /** Resolves when all that was accepted so far is on disk. Appends of one turn share a write. */
  async flush(): Promise<void> {
    const records = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    const appends = await Promise.allSettled(
      records.map((record) => this.#deps.spool.append(record))
    )
    this.#acceptedCount += appends.filter(({ status }) => status === 'fulfilled').length
    const failed = appends.find((append) => append.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  result(): EventsResult {
    return {
      accepted: this.#acceptedCount,
      refused: this.#refused,
      refusedCount: this.#refusedCount,
    }
  }

  #takeLine(line: Line): void {
    const result = toRecord(line, this.#key, this.#deps)
    if (result.ok) {
      this.#waiting.push(result.record)
      this.#waitingBytes += result.bytes
      return
    }
    this.#refusedCount += 1
    if (this.#refused.length === limits.refusedMax) return
    this.#refused.push({ line: line.number, messages: result.messages })
  }
}

/** What is wrong with a whole file, by its first line: each line would be refused for the same reason. */
function fileFault(line: Line): string | null {
  const isArray = line.number === 1 && /^\uFEFF?\s*\[/u.test(line.bytes?.toString('utf8') ?? '')
  if (isArray) return 'is a JSON array and must be one JSON object a line'
  return foreignTextFault(line)
}

function isBlank(bytes: Buffer): boolean {
  if (bytes.length === 0) return true
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
