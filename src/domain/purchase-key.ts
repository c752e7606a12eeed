import { createHash } from 'node:crypto'

/**
 * What makes two deliveries one purchase: publisher and transaction, by exact text; 32 lower-case hex
 * digits. Null for a transaction without a visible character: it names nothing, and each delivery of it
 * is a purchase of its own.
 */
export function purchaseKey(publisherId: number, transactionId: string): string | null {
  return transactionId.trim() === '' ? null : hash16(['t', publisherId, transactionId])
}

/** The first 16 bytes of the hash of the value's JSON, in hex. */
export function hash16(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}
