// The days that were sealed, or sealed again, since an instant: a client fetches these again.

import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { unknownMarket } from './market-days.ts'
import { latestSealsSql } from './seals.ts'

export interface Restatement {
  readonly day: string
  /** Null for the markets that the catalog does not know. */
  readonly marketId: number | null
  /** Changes whenever the figures of the day are computed again. */
  readonly revision: string
  readonly sealedAtMs: number
}

export interface Restatements {
  /** The oldest seal first. */
  readonly days: readonly Restatement[]
  /** True: there are later ones; ask again with the last `sealedAtMs` to continue. */
  readonly hasMore: boolean
}

/** Limit of the days after the instant asked for. Seals of the same instant as the last one come with it. */
const restatementsMax = 5_000
/** With two nodes, or a slow one, a seal can become visible this much later than a younger seal. */
const overlapMs = 60_000
/** More than engines can seal in a minute. */
const overlapRowsMax = 1_000_000

/**
 * The days that were sealed, or sealed again, after an instant, oldest first. All days of the minute before it
 * are repeated, so that a client which continues from the last instant misses none and always makes progress.
 */
export async function readRestatements(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  sinceMs: number,
  rowsMax: number = restatementsMax
): Promise<Restatements> {
  const read = (range: { afterMs: number; throughMs: number; rowsMax: number }) =>
    warehouse.rows<RestatementRow>(restatementsSql, range)
  await warehouse.barrier(['sealed_day'])
  const repeated = await read({
    afterMs: sinceMs - overlapMs,
    throughMs: sinceMs,
    rowsMax: overlapRowsMax,
  })
  assert(repeated.length < overlapRowsMax, 'the days of a minute fit into the list')
  const later = await read({ afterMs: sinceMs, throughMs: Number.MAX_SAFE_INTEGER, rowsMax })
  return {
    days: [...repeated, ...later].map(toRestatement),
    hasMore: later.length < (later[0]?.total ?? 0),
  }
}

interface RestatementRow {
  readonly unit: number
  readonly day: string
  readonly revision: string
  readonly sealedAtMs: number
  readonly total: number
}

function toRestatement({ unit, day, revision, sealedAtMs }: RestatementRow): Restatement {
  return { day, marketId: unit === unknownMarket.id ? null : unit, revision, sealedAtMs }
}

const restatementsSql = `
SELECT unit, toString(seal.day) AS day, toString(seal.revision) AS revision,
  toUnixTimestamp64Milli(sealed_at) AS sealedAtMs, count() OVER () AS total
FROM (${latestSealsSql()}) AS seal
WHERE sealedAtMs > {afterMs:Int64} AND sealedAtMs <= {throughMs:Int64}
ORDER BY sealedAtMs, seal.day, unit
LIMIT {rowsMax:UInt32} WITH TIES`
