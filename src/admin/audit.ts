import { randomUUID } from 'node:crypto'
import type { AccessKey } from '../access/key.ts'
import { assert } from '../lib/assert.ts'
import type { AdminDeps } from './deps.ts'

interface AuditRecord {
  /** Who did it: the key of the call. */
  readonly key: AccessKey | null
  readonly action: 'catalog.put' | 'products.put' | 'key.create' | 'key.revoke' | 'events.backfill'
  /** What it was done to: an id or a count, never a secret. */
  readonly subject: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Resolves when the record is on disk. */
export type Audit = (record: AuditRecord) => Promise<void>

/**
 * Written after the change and before its answer. When it fails the caller gets an error and repeats
 * the call, all of which can be repeated: no change stays both answered and unrecorded.
 */
export function createAudit({ warehouse, clock }: Pick<AdminDeps, 'warehouse' | 'clock'>): Audit {
  return async ({ key, action, subject, details = {} }) => {
    assert(key !== null, 'a change has an author')
    const row = {
      at: new Date(clock()).toISOString().replace('T', ' ').replace('Z', ''),
      id: randomUUID(),
      key_id: key.id,
      action,
      subject,
      details: JSON.stringify(details),
    }
    await warehouse.insert('audit', Buffer.from(`${JSON.stringify(row)}\n`))
  }
}
