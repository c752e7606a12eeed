// A second lock. If values of concurrent statements ever mixed inside ClickHouse, the answer would say whose
// it is, and nothing of it would be sent to anybody else.
import { assert } from '../lib/assert.ts'

/** The last column of every row that an advertiser reads: the advertiser the statement was bound to. */
export const boundAdvertiserSql = '{advertiserId:Int32} AS bound_advertiser_id'

/** Throws before anything is sent; the answer is a 500, which is logged. */
export function assertAnswersFor(advertiserId: number, bound: unknown): void {
  assert(bound === advertiserId, 'the warehouse answers for the advertiser that was asked for')
}

/** The same for statements about several: the sum of their ids, beside the advertiser of the row. */
export const boundAdvertisersSql =
  'toString(arraySum({advertiserIds:Array(Int32)})) AS bound_advertisers'

/** Throws before anything is sent, as `assertAnswersFor` does. */
export function assertAnswersForAll(
  advertiserIds: readonly number[],
  rows: readonly { readonly advertiser_id: number; readonly bound_advertisers: string }[]
): void {
  const asked = new Set(advertiserIds)
  const sum = String(advertiserIds.reduce((total, id) => total + id, 0))
  const areOwn = rows.every((row) => row.bound_advertisers === sum && asked.has(row.advertiser_id))
  assert(areOwn, 'the warehouse answers for the advertisers that were asked for')
}
