// The chain of hashes through the audit: one chain per writer, each record with the hash of the one before it.
// docs/audit.md describes the form byte by byte, for programs that check it without this code.
import { createHash } from 'node:crypto'

/** A record as it is stored and exported. Outside of any chain, its writer is ''. */
export interface ChainedRecord {
  /** With six digits behind the second: `2026-03-01T00:00:00.000000Z`. */
  readonly at: string
  readonly id: string
  readonly keyId: string
  readonly keyName: string
  readonly action: string
  readonly subject: string
  /** The JSON text, exactly as it is stored. */
  readonly details: string
  readonly writer: string
  /** From 1, without gaps. */
  readonly sequence: number
  readonly previousHash: string
  /** The last records of other chains, as `printHead` prints them. */
  readonly heads: readonly string[]
  readonly hash: string
}

/** The last record of a chain. */
export interface AuditHead {
  readonly writer: string
  readonly sequence: number
  readonly hash: string
}

/** What the first record of a chain has for the hash of the one before. */
export const noHash = '0'.repeat(64)

const form = 'shelftrace-audit-1'
const headForm = /^([0-9a-f-]{36}):([1-9]\d{0,14}):([0-9a-f]{64})$/

/**
 * SHA-256 over the fields in this order, each as its length in bytes of UTF-8 in decimal, a colon, and the
 * bytes. The lengths keep two different records from giving the same bytes.
 */
export function hashRecord(record: Omit<ChainedRecord, 'hash'>): string {
  const fields = [
    form,
    record.writer,
    String(record.sequence),
    record.previousHash,
    record.heads.join(','),
    record.at,
    record.id,
    record.keyId,
    record.keyName,
    record.action,
    record.subject,
    record.details,
  ]
  const hash = createHash('sha256')
  for (const field of fields) hash.update(`${Buffer.byteLength(field)}:${field}`)
  return hash.digest('hex')
}

export function printHead({ writer, sequence, hash }: AuditHead): string {
  return `${writer}:${sequence}:${hash}`
}

export function parseHead(text: string): AuditHead | null {
  const [, writer, sequence, hash] = headForm.exec(text) ?? []
  if (writer === undefined || sequence === undefined || hash === undefined) return null
  return { writer, sequence: Number(sequence), hash }
}
