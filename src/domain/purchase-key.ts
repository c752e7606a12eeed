import { hash } from 'node:crypto'

/**
 * Two deliveries with the same key are one purchase: same publisher and same transaction id, by exact
 * text. 32 lower-case hex digits. Null for an id that names no purchase.
 */
export function purchaseKey(publisherId: number, transactionId: string): string | null {
  return namesPurchase(transactionId) ? hash16(['t', publisherId, transactionId]) : null
}

/** An id that is empty or white space names nothing: each delivery with it is a purchase of its own. */
export function namesPurchase(transactionId: string): boolean {
  return transactionId.trim() !== ''
}

/** The first 16 bytes of the hash of the value's JSON, in hex. */
export function hash16(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex').slice(0, 32)
}
