// A second lock: should values of statements that run side by side ever mix inside of the engine, the
// answer says whose it is, and nothing of it is sent to anybody else.
import { assert } from '../lib/assert.ts'

/** Last column of every row that an advertiser reads: the one that the statement was bound to. */
export const boundAdvertiserSql = '{advertiserId:Int32} AS bound_advertiser_id'

/** Throws, which is a 500 that is logged, before anything is sent. */
export function assertAnswersFor(advertiserId: number, bound: unknown): void {
  assert(bound === advertiserId, 'the engine answers for the advertiser that was asked for')
}
