import type { PurchaseReturn } from '../contract/return.ts'
import type { ReturnRecord } from './record.ts'

type Receipt = Pick<ReturnRecord, 'receivedAtMs' | 'origin'>

export function toReturnRecord(body: PurchaseReturn, receipt: Receipt): ReturnRecord {
  return {
    type: 'return',
    receivedAtMs: receipt.receivedAtMs,
    publisherId: body.publisher_id,
    transactionId: body.transaction_id,
    returnId: body.return_id,
    lines: body.products.map(({ gtin, quantity }) => ({ gtin, quantity })),
    origin: receipt.origin,
  }
}
