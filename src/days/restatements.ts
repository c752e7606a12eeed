// Which days were sealed, or sealed again, since a moment: what a client pulls anew.

import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { unknownMarket } from './day-rows.ts'
import { latestSealsSql } from './seals.ts'

export interface Restatement {
  readonly day: string
  /** Null: of the markets that the catalog does not know. */
  readonly marketId: number | null
  /** Names what the day's figures are; another one when they were computed again. */
  readonly revision: string
  readonly sealedAtMs: number
}

export interface Restatements {
  /** The oldest seal first. */
  readonly days: readonly Restatement[]
  /** True: there are later ones; asking with the last `sealedAtMs` goes on behind them. */
  readonly hasMore: boolean
}

/** Of those after the instant asked for. A seal of the same instant as the last one comes with it. */
const restatementsMax = 5_000
/** Two nodes, or one that was slow: a seal can become visible so much later than a younger one. */
const overlapMs = 60_000
/** What is sealed within the overlap is bounded by what engines can seal in a minute. */
const overlapRowsMax = 1_000_000

/**
 * The days that were sealed, or sealed again, after an instant, oldest first. Those of the
 * last minute before it come again, however many they are, so that asking from the last one on skips
 * none and always gets on.
 */
export async function readRestatements(
  warehouse: Pick<Warehouse, 'rows'>,
  sinceMs: number,
  rowsMax: number = restatementsMax
): Promise<Restatements> {
  const read = (range: { afterMs: number; throughMs: number; rowsMax: number }) =>
    warehouse.rows<RestatementRow>(restatementsSql, range)
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
