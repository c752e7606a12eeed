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
  /** Runs a part of a pass. Whoever needs everything to stand still waits for a part, and not for all that is due. */
  readonly asStep?: <Result>(work: () => Promise<Result>) => Promise<Result>
}

export const eraseLimits = {
  /** Their rows are removed by the same statements: each rewrites, or at least looks at, all parts of its table. */
  peoplePerPassMax: 20,
  changesPerStatementMax: 100,
  /** Of partitions that one statement rewrites, unless a single one is larger: some seconds of work. */
  bytesPerStatementMax: 256 * 1024 ** 2,
} as const

export interface EraseResult {
  /** Passes that were completed. */
  readonly passCount: number
  /** Erasures that wait until purchases of the person are attributed, or until every replica knows of them. */
  readonly waitingCount: number
}

/** Does what is due: new requests, people whose events came out of a spool since, and watches that end. */
export async function eraseDue(deps: EraseDeps): Promise<EraseResult> {
  const due = await asStep(deps, () => findDue(deps))
  let [passCount, waitingCount] = [0, 0]
  for (let at = 0; at < due.length; at += eraseLimits.peoplePerPassMax) {
    const people = due.slice(at, at + eraseLimits.peoplePerPassMax)
    const erased = await erasePeople(
      deps,
      people.map(({ id }) => id)
    )
    for (const one of people.filter(({ id }) => erased.includes(id))) {
      await asStep(deps, () => advance(deps, one))
    }
    passCount += erased.length
    waitingCount += people.length - erased.length
  }
  return { passCount, waitingCount }
}

async function asStep<Result>(deps: EraseDeps, work: () => Promise<Result>): Promise<Result> {
  return deps.asStep === undefined ? await work() : await deps.asStep(work)
}

async function advance({ warehouse, log }: EraseDeps, { id, stage }: Due): Promise<void> {
  if (stage === 'again') return
  await warehouse.command(advanceSql, { id, stage: stage === 'requested' ? 2 : 3 })
  // This merges the row that held the hashes away; otherwise it would only be hidden.
  if (stage === 'ending') await warehouse.command('OPTIMIZE TABLE erasure FINAL')
  log.info({ erasure: id, stage }, 'a shopper was erased')
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

/** Those of the erasures that are done. The others wait for an attribution, or have rows left. */
async function erasePeople(deps: EraseDeps, ids: readonly string[]): Promise<readonly string[]> {
  const frozen: string[] = []
  for (const id of ids) if (await asStep(deps, () => freeze(deps, id))) frozen.push(id)
  if (frozen.length === 0) return []
  await asStep(deps, () => emptyMoved(deps, frozen))
  let erased: readonly string[] = frozen
  // What leads to the rows that are left is kept, so the next pass finds them.
  for (const removal of removals) erased = await remove(deps, removal, erased)
  return erased
}

/** False if purchases of the person are not attributed yet. */
async function freeze({ warehouse, settleMs }: EraseDeps, id: string): Promise<boolean> {
  await warehouse.barrier(['erasure', ...passReads])
  const [unanswered] = await warehouse.rows<{ count: number }>(unansweredSql, { id, settleMs })
  if ((unanswered?.count ?? 0) > 0) return false
  await warehouse.command(freezeSql, { id })
  await warehouse.command(listFrozenSql, { id })
  return true
}

async function emptyMoved(deps: EraseDeps, ids: readonly string[]): Promise<void> {
  const { warehouse } = deps
  await warehouse.barrier(['attribution', 'frozen_purchase'])
  await warehouse.command(emptyMovedSql)
  await eraseSetAside(deps, await readPeople(warehouse, ids))
}

async function readPeople(
  warehouse: Warehouse,
  ids: readonly string[]
): Promise<readonly ErasedPerson[]> {
  const rows = await warehouse.rows<{ publisherId: number; at: string; hashes: string[] }>(
    `SELECT publisher_id AS publisherId, toString(requested_at) AS at, identities_hex AS hashes
     FROM erasure FINAL WHERE id IN {ids:Array(String)} AND notEmpty(identities_hex)`,
    { ids }
  )
  return rows.map(({ publisherId, at, hashes }) => ({
    publisherId,
    identities: new Set(hashes),
    requestedAtMs: instantMs(at),
  }))
}

/** The weeks of 190 years. */
const partitionsMax = 10_000

interface Change {
  readonly id: string
  readonly partition: string
}

/**
 * Rewrites only the partitions that hold data of the people. This is heavy, but it truly removes the data. Gives those
 * back of whom nothing is left: each replica reads the identities where it rewrites a part, and one that does not know
 * of the erasure yet changes nothing.
 */
async function remove(
  deps: EraseDeps,
  removal: Removal,
  ids: readonly string[]
): Promise<readonly string[]> {
  const { warehouse } = deps
  const changes = await asStep(deps, () => findChanges(warehouse, removal, ids))
  if (changes.length === 0) return ids
  const bytes = await readPartitionBytes(warehouse, removal.table)
  for (const some of divide(changes, bytes)) {
    await asStep(deps, () => change(warehouse, removal, some))
  }
  const concerned = [...new Set(changes.map(({ id }) => id))]
  const left = await asStep(deps, () => findChanges(warehouse, removal, concerned))
  return ids.filter((id) => !left.some((one) => one.id === id))
}

/** The partitions in which each of the people has rows, by partition. */
async function findChanges(
  warehouse: Warehouse,
  { table, condition }: Removal,
  ids: readonly string[]
): Promise<readonly Change[]> {
  await warehouse.barrier(['erasure', table])
  const changes: Change[] = []
  for (const id of ids) {
    const found = await warehouse.rows<{ partition: string }>(
      `SELECT DISTINCT _partition_id AS partition FROM ${table} WHERE ${condition('{id:String}')}
       LIMIT ${partitionsMax}`,
      { id }
    )
    assert(found.length < partitionsMax, 'the partitions of a table fit into the list')
    changes.push(...found.map(({ partition }) => ({ id, partition })))
  }
  // A partition cannot be a bound value; ClickHouse names this one, in digits.
  assert(
    changes.every(({ partition }) => /^\d{6,8}$/u.test(partition)),
    'partitions are days, weeks or months'
  )
  return changes.toSorted((a, b) => a.partition.localeCompare(b.partition))
}

async function readPartitionBytes(
  warehouse: Warehouse,
  table: Removal['table']
): Promise<ReadonlyMap<string, number>> {
  const rows = await warehouse.rows<{ partition: string; bytes: number }>(
    `SELECT partition_id AS partition, toFloat64(sum(bytes_on_disk)) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() AND table = {table:String}
     GROUP BY partition`,
    { table }
  )
  return new Map(rows.map(({ partition, bytes }) => [partition, bytes]))
}

/** Into statements of bounded work, with all changes of a partition together as far as they fit. */
export function divide(
  changes: readonly Change[],
  bytesOf: ReadonlyMap<string, number>
): readonly (readonly Change[])[] {
  const { changesPerStatementMax, bytesPerStatementMax } = eraseLimits
  const statements: Change[][] = []
  let bytes = 0
  for (const one of changes) {
    const current = statements.at(-1)
    const isSame = current?.at(-1)?.partition === one.partition
    const more = isSame ? 0 : (bytesOf.get(one.partition) ?? 0)
    const fits = current !== undefined && current.length < changesPerStatementMax
    if (fits && (isSame || bytes + more <= bytesPerStatementMax)) {
      current.push(one)
      bytes += more
    } else {
      statements.push([one])
      bytes = bytesOf.get(one.partition) ?? 0
    }
  }
  return statements
}

async function change(
  warehouse: Warehouse,
  { table, change: changeOf, condition }: Removal,
  changes: readonly Change[]
): Promise<void> {
  const ids = [...new Set(changes.map(({ id }) => id))]
  const commands = changes.map(({ id, partition }) => {
    const name = `{id${ids.indexOf(id)}:String}`
    return `${changeOf(name)} IN PARTITION ID '${partition}' WHERE ${condition(name)}`
  })
  await warehouse.command(
    `ALTER TABLE ${table} ${commands.join(',\n')}
     SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1`,
    Object.fromEntries(ids.map((id, index) => [`id${index}`, id]))
  )
}
