import type { PurchaseReturn } from '../contract/return.ts'
import type { ReturnRecord } from './record.ts'

/** How a return came in: live with its sender's address, or by a backfill. */
type Receipt = Pick<ReturnRecord, 'receivedAtMs' | 'sourceAddress'>

export function toReturnRecord(body: PurchaseReturn, receipt: Receipt): ReturnRecord {
  return {
    type: 'return',
    receivedAtMs: receipt.receivedAtMs,
    publisherId: body.publisher_id,
    transactionId: body.transaction_id,
    returnId: body.return_id,
    lines: body.products.map(({ gtin, quantity }) => ({ gtin, quantity })),
    sourceAddress: receipt.sourceAddress,
  }
}
