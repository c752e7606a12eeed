// A second lock. If values of concurrent statements ever mixed inside ClickHouse, the answer would say whose
// it is, and nothing of it would be sent to anybody else.
import { assert } from '../lib/assert.ts'

/** The last column of every row that an advertiser reads: the advertiser the statement was bound to. */
export const boundAdvertiserSql = '{advertiserId:Int32} AS bound_advertiser_id'

/** Throws before anything is sent; the answer is a 500, which is logged. */
export function assertAnswersFor(advertiserId: number, bound: unknown): void {
  assert(bound === advertiserId, 'the warehouse answers for the advertiser that was asked for')
}
