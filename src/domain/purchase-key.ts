import { hash } from 'node:crypto'

/**
 * Two deliveries with the same key are one purchase: same publisher and same transaction id, by exact
 * text. 32 lower-case hex digits. Null for an id without a visible character: it names nothing, so each
 * delivery with it is a purchase of its own.
 */
export function purchaseKey(publisherId: number, transactionId: string): string | null {
  return transactionId.trim() === '' ? null : hash16(['t', publisherId, transactionId])
}

/** The first 16 bytes of the hash of the value's JSON, in hex. */
export function hash16(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex').slice(0, 32)
}
