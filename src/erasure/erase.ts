// Erases shoppers: the credit of their purchases stays, their identities go. Each pass can be interrupted,
// repeated, and run on two engines at once (docs/decisions/0022-erasure.md).

import type { Logger } from 'pino'
import { assert } from '../lib/assert.ts'
import { instantMs, shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { announceLimits } from '../days/announce.ts'
import {
  advanceSql,
  dueSql,
  emptyMovedSql,
  foundAgainSql,
  freezeSql,
  listFrozenSql,
  removals,
  unansweredSql,
} from './erase-sql.ts'
import type { Removal } from './erase-sql.ts'
import { erasureLimits } from '../contract/erasures.ts'
import { eraseSetAside } from './erase-set-aside.ts'
import type { ErasedPerson, EraseSetAsideDeps } from './erase-set-aside.ts'

export interface EraseDeps extends EraseSetAsideDeps {
  readonly settleMs: number
  readonly log: Pick<Logger, 'info'>
  /** Lowered by tests only. */
  readonly visibilityMs?: number
}

export interface EraseResult {
  /** Passes that were completed. */
  readonly passCount: number
  /** Erasures that wait until purchases of the person are attributed, or until every replica knows of them. */
  readonly waitingCount: number
}

/** Does what is due: new requests, people whose events came out of a spool since, and watches that end. */
export async function eraseDue(deps: EraseDeps): Promise<EraseResult> {
  const { warehouse } = deps
  let [passCount, waitingCount] = [0, 0]
  for (const { id, stage } of await findDue(deps)) {
    if (!(await eraseOnce(deps, id))) {
      waitingCount += 1
      continue
    }
    passCount += 1
    if (stage === 'again') continue
    await warehouse.command(advanceSql, { id, stage: stage === 'requested' ? 2 : 3 })
    // This merges the row that held the hashes away; otherwise it would only be hidden.
    if (stage === 'ending') await warehouse.command('OPTIMIZE TABLE erasure FINAL')
    deps.log.info({ erasure: id, stage }, 'a shopper was erased')
  }
  return { passCount, waitingCount }
}

interface Due {
  readonly id: string
  readonly stage: 'requested' | 'again' | 'ending'
}

async function findDue(deps: EraseDeps): Promise<readonly Due[]> {
  const { warehouse, settleMs, visibilityMs = announceLimits.visibilityMs } = deps
  const now = await warehouseNow(warehouse)
  await warehouse.barrier(['erasure', ...passReads, 'late_touchpoint'])
  const due = await warehouse.rows<{ id: string; stage: number }>(dueSql, {
    requestedUntil: shiftInstant(now, -settleMs - visibilityMs),
    watchedUntil: shiftInstant(now, -erasureLimits.watchDays * 86_400_000),
  })
  const again = await warehouse.rows<{ id: string }>(foundAgainSql)
  const known = new Set(due.map(({ id }) => id))
  return [
    ...due.map(({ id, stage }) => ({ id, stage: stage === 1 ? 'requested' : 'ending' }) as const),
    ...again.filter(({ id }) => !known.has(id)).map(({ id }) => ({ id, stage: 'again' }) as const),
  ]
}

const passReads = [
  'touchpoint',
  'purchase_identity',
  'purchase',
  'pending_purchase',
  'attribution',
  'frozen_purchase',
] as const

/** False if purchases of the person are not attributed yet, or rows of the person are left. */
async function eraseOnce(deps: EraseDeps, id: string): Promise<boolean> {
  const { warehouse, settleMs } = deps
  await warehouse.barrier(['erasure', ...passReads])
  const [unanswered] = await warehouse.rows<{ count: number }>(unansweredSql, { id, settleMs })
  if ((unanswered?.count ?? 0) > 0) return false
  await warehouse.command(freezeSql, { id })
  await warehouse.command(listFrozenSql, { id })
  await warehouse.barrier(['attribution', 'frozen_purchase'])
  await warehouse.command(emptyMovedSql)
  const erasure = await readIdentities(warehouse, id)
  if (erasure !== null) await eraseSetAside(deps, erasure)
  for (const removal of removals) {
    // What leads to the rows that are left is kept, so the next pass finds them.
    if (!(await remove(warehouse, removal, id))) return false
  }
  return true
}

async function readIdentities(warehouse: Warehouse, id: string): Promise<ErasedPerson | null> {
  const [row] = await warehouse.rows<{ publisherId: number; at: string; hashes: string[] }>(
    `SELECT publisher_id AS publisherId, toString(requested_at) AS at, identities_hex AS hashes
     FROM erasure FINAL WHERE id = {id:String}`,
    { id }
  )
  if (row === undefined || row.hashes.length === 0) return null
  return {
    publisherId: row.publisherId,
    identities: new Set(row.hashes),
    requestedAtMs: instantMs(row.at),
  }
}

/** The weeks of 190 years. */
const partitionsMax = 10_000

/**
 * Rewrites only the partitions that hold data of the person. This is heavy, but it truly removes the data. False if
 * some is left: each replica reads the identities where it rewrites a part, and one that does not know of the erasure
 * yet changes nothing.
 */
async function remove(warehouse: Warehouse, removal: Removal, id: string): Promise<boolean> {
  const { table, change, condition } = removal
  const found = await findPartitions(warehouse, removal, id)
  for (const { partition } of found) {
    // A partition cannot be a bound value; ClickHouse names this one, in digits.
    if (!/^\d{6,8}$/u.test(partition)) continue
    await warehouse.command(
      `ALTER TABLE ${table} ${change} IN PARTITION ID '${partition}' WHERE ${condition}
       SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1`,
      { id }
    )
  }
  return found.length === 0 || (await findPartitions(warehouse, removal, id)).length === 0
}

async function findPartitions(
  warehouse: Warehouse,
  { table, condition }: Removal,
  id: string
): Promise<readonly { readonly partition: string }[]> {
  await warehouse.barrier(['erasure', table])
  const found = await warehouse.rows<{ partition: string }>(
    `SELECT DISTINCT _partition_id AS partition FROM ${table} WHERE ${condition}
     ORDER BY partition LIMIT ${partitionsMax}`,
    { id }
  )
  assert(found.length < partitionsMax, 'the partitions of a table fit into the list')
  return found
}
