// Requests to erase a person, and their progress. The pipeline does the work.

import { randomBytes } from 'node:crypto'
import { erasureLimits } from '../contract/erasures.ts'
import type { ErasurePage } from '../contract/erasures.ts'
import { printInstant } from '../domain/instant.ts'
import { ServiceError } from '../errors.ts'
import { instantMs } from '../warehouse/instant.ts'
import { unlogged } from '../warehouse/warehouse.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

type Erasure = ErasurePage['erasures'][number]

export interface ErasureRequest {
  readonly publisherId: number
  /** One or two hashes. */
  readonly identities: readonly string[]
}

/** The request is durable when this resolves. Its instant is the warehouse's. */
export async function requestErasure(
  warehouse: Warehouse,
  { publisherId, identities }: ErasureRequest
): Promise<Erasure> {
  const id = randomBytes(8).toString('hex')
  await warehouse.command(
    `INSERT INTO erasure (id, publisher_id, requested_at, stage, changed_at, erased_at, identities_hex)
     SELECT {id:String}, {publisherId:Int32}, now64(6), 1, now64(6), toDateTime64(0, 6, 'UTC'),
       {identities:Array(String)}
     ${unlogged}`,
    { id, publisherId, identities }
  )
  const erasure = await findErasure(warehouse, id)
  if (erasure === null) throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'the erasure is not there')
  return erasure
}

const storedIn = (table: 'touchpoint' | 'purchase_identity'): string => `
SELECT DISTINCT lower(hex(identity)) AS hash FROM ${table}
WHERE publisher_id = {publisherId:Int32}
  AND identity IN (SELECT toFixedString(unhex(arrayJoin({identities:Array(String)})), 16))`

const storedSql = `${storedIn('touchpoint')} UNION ALL ${storedIn('purchase_identity')} ${unlogged}`

/** Those of the identities under which a touchpoint or a purchase is stored. */
export async function findStoredIdentities(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  { publisherId, identities }: ErasureRequest
): Promise<ReadonlySet<string>> {
  await warehouse.barrier(['touchpoint', 'purchase_identity'])
  const rows = await warehouse.rows<{ hash: string }>(storedSql, { publisherId, identities })
  return new Set(rows.map(({ hash }) => hash))
}

/** Counts the erasures that are not closed. */
export async function countOpenErasures(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>
): Promise<number> {
  await warehouse.barrier(['erasure'])
  const [row] = await warehouse.rows<{ count: number }>(
    'SELECT count() AS count FROM erasure FINAL WHERE stage < 3'
  )
  return row?.count ?? 0
}

interface ErasureRow {
  readonly id: string
  readonly publisherId: number
  readonly stage: number
  readonly requestedAt: string
  readonly erasedAt: string
}

const columns = `id, publisher_id AS publisherId, stage, toString(requested_at) AS requestedAt,
  toString(erased_at) AS erasedAt`

export async function findErasure(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  id: string
): Promise<Erasure | null> {
  await warehouse.barrier(['erasure'])
  const [row] = await warehouse.rows<ErasureRow>(
    `SELECT ${columns} FROM erasure FINAL WHERE id = {id:String}`,
    { id }
  )
  return row === undefined ? null : erasureOf(row)
}

/** Newest first. */
export async function listErasures(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  limit: number
): Promise<readonly Erasure[]> {
  await warehouse.barrier(['erasure'])
  const rows = await warehouse.rows<ErasureRow>(
    `SELECT ${columns} FROM erasure FINAL ORDER BY requested_at DESC, id LIMIT {limit:UInt32}`,
    { limit }
  )
  return rows.map(erasureOf)
}

function erasureOf({ id, publisherId, stage, requestedAt, erasedAt }: ErasureRow): Erasure {
  const watchedUntilMs = instantMs(requestedAt) + erasureLimits.watchDays * 86_400_000
  return {
    id,
    publisherId,
    state: stage === 1 ? 'requested' : stage === 2 ? 'erased' : 'closed',
    requestedAt: printInstant(instantMs(requestedAt)),
    ...(stage > 1 && { erasedAt: printInstant(instantMs(erasedAt)) }),
    watchedUntil: printInstant(watchedUntilMs),
  }
}
