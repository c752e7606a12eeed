// Requests to judge again, and their progress. The pipeline does the work.

import { randomBytes } from 'node:crypto'
import type { AccessKey } from '../../access/key.ts'
import type { DeliveryPolicy } from '../../access/delivery-verdict.ts'
import type { Assumption, Judgement } from '../../contract/judgements.ts'
import { addDays, dayOf, daysBetween } from '../../domain/day.ts'
import { printInstant } from '../../domain/instant.ts'
import { ServiceError } from '../../errors.ts'
import { formatInstant, instantMs } from '../../warehouse/instant.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import { printAmount } from '../explain/print.ts'
import { addTallies, noCounts, noTally } from './tally.ts'
import type { Tally } from './tally.ts'

/** What decides, as it was when the judgement was requested. No key is in it, only what is known of keys. */
export interface PinnedPolicy {
  readonly policy: DeliveryPolicy
  readonly keys: readonly AccessKey[]
}

export interface JudgementOrder {
  readonly publisherId: number
  readonly fromMs: number
  readonly toMs: number
  readonly reason: string
  readonly isDryRun: boolean
  readonly assume: Assumption | null
  readonly pinned: PinnedPolicy
  /** Who asked. */
  readonly key: Pick<AccessKey, 'id' | 'name'>
}

export interface StoredJudgement extends Omit<JudgementOrder, 'key'> {
  readonly id: string
  /** By the warehouse's clock; the instant of all its judgements. */
  readonly requestedAt: string
  readonly keyId: string
  readonly keyName: string
  readonly isDone: boolean
  readonly changedAt: string
}

type Reader = Pick<Warehouse, 'rows' | 'barrier'>

/** The request is durable when this resolves. */
export async function requestJudgement(
  warehouse: Pick<Warehouse, 'rows' | 'command' | 'barrier'>,
  order: JudgementOrder
): Promise<Judgement> {
  const id = randomBytes(8).toString('hex')
  await warehouse.command(requestSql, {
    id,
    publisherId: order.publisherId,
    from: formatInstant(order.fromMs),
    to: formatInstant(order.toMs),
    reason: order.reason,
    isDryRun: order.isDryRun ? 1 : 0,
    assume: order.assume ?? '',
    policy: JSON.stringify(order.pinned),
    keyId: order.key.id,
    keyName: order.key.name,
  })
  const judgement = await findJudgement(warehouse, id)
  if (judgement === null) {
    throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'the judgement is not there')
  }
  return judgement
}

/** Judgements that are not done, the oldest first. */
export async function readOpenJudgements(warehouse: Reader): Promise<readonly StoredJudgement[]> {
  await warehouse.barrier(['judgement'])
  const rows = await warehouse.rows<JudgementRow>(
    `SELECT ${columns} FROM judgement FINAL WHERE stage = 1 ORDER BY requested_at, id LIMIT 1000`
  )
  return rows.map(toStored)
}

export async function countOpenJudgements(warehouse: Reader): Promise<number> {
  await warehouse.barrier(['judgement'])
  const [row] = await warehouse.rows<{ count: number }>(
    'SELECT toUInt32(count()) AS count FROM judgement FINAL WHERE stage = 1'
  )
  return row?.count ?? 0
}

export async function findJudgement(warehouse: Reader, id: string): Promise<Judgement | null> {
  await warehouse.barrier(['judgement'])
  const [row] = await warehouse.rows<JudgementRow>(
    `SELECT ${columns} FROM judgement FINAL WHERE id = {id:String}`,
    { id }
  )
  return row === undefined ? null : withProgress(toStored(row), await readParts(warehouse, id))
}

/** Newest first. */
export async function listJudgements(
  warehouse: Reader,
  limit: number
): Promise<readonly Judgement[]> {
  await warehouse.barrier(['judgement'])
  const rows = await warehouse.rows<JudgementRow>(
    `SELECT ${columns} FROM judgement FINAL ORDER BY requested_at DESC, id LIMIT {limit:UInt32}`,
    { limit }
  )
  const judgements: Judgement[] = []
  for (let from = 0; from < rows.length; from += judgementsPerLook) {
    const some = rows.slice(from, from + judgementsPerLook)
    const ids = some.map(({ id }) => id)
    const parts = await readPartsOf(warehouse, ids)
    judgements.push(...some.map((row) => withProgress(toStored(row), parts.get(row.id) ?? [])))
  }
  return judgements
}

/** A judgement has some 400 parts at most, a part for each of its days, so a look holds some 20,000 of them. */
const judgementsPerLook = 50

/** The returns are looked at in one part, since they are not stored by day. */
export const returnsPart = 'returns'

/** What a scan looks at, in order: the UTC days of the range, and the returns. */
export function partsOf({ fromMs, toMs }: Pick<JudgementOrder, 'fromMs' | 'toMs'>) {
  const first = dayOf(fromMs, 'UTC')
  const dayCount = daysBetween(first, dayOf(toMs - 1, 'UTC')) + 1
  const days = Array.from({ length: dayCount }, (_, index) => addDays(first, index))
  return [...days, returnsPart]
}

export interface PartDone {
  readonly scan: number
  readonly part: string
  readonly isDone: boolean
  readonly beganAt: string
  readonly tally: Tally
}

/** Of the last scan. */
export async function readParts(warehouse: Reader, id: string): Promise<readonly PartDone[]> {
  return (await readPartsOf(warehouse, [id])).get(id) ?? []
}

/** Of the last scan of each judgement that has one, in one statement. */
async function readPartsOf(
  warehouse: Reader,
  ids: readonly string[]
): Promise<ReadonlyMap<string, readonly PartDone[]>> {
  const parts = new Map<string, PartDone[]>()
  if (ids.length === 0) return parts
  await warehouse.barrier(['judgement_part'])
  for (const row of await warehouse.rows<PartRow>(partsSql, { ids })) {
    const { judgementId, isDone, tally, ...rest } = row
    const part = {
      ...rest,
      isDone: isDone === 1,
      tally: tally === '' ? noTally : parseTally(tally),
    }
    const others = parts.get(judgementId)
    if (others === undefined) parts.set(judgementId, [part])
    else others.push(part)
  }
  return parts
}

interface PartRow {
  readonly judgementId: string
  readonly scan: number
  readonly part: string
  readonly isDone: 0 | 1
  readonly beganAt: string
  readonly tally: string
}

function parseTally(text: string): Tally {
  const tally: Tally = JSON.parse(text)
  return tally
}

function sumOf(parts: readonly PartDone[]): Tally {
  return parts.reduce((sum, { tally }) => addTallies(sum, tally), noTally)
}

function withProgress(stored: StoredJudgement, found: readonly PartDone[]): Judgement {
  const parts = found.filter(({ isDone }) => isDone)
  const all = sumOf(parts)
  const returned = sumOf(parts.filter(({ part }) => part === returnsPart))
  const bought = sumOf(parts.filter(({ part }) => part !== returnsPart))
  const partCount = partsOf(stored).length
  const { policy, keys } = stored.pinned
  const isScanned = parts.length === partCount
  return {
    id: stored.id,
    publisherId: stored.publisherId,
    from: printInstant(stored.fromMs),
    to: printInstant(stored.toMs),
    reason: stored.reason,
    dryRun: stored.isDryRun,
    ...(stored.assume !== null && { assume: stored.assume }),
    policy: {
      conversionSources: policy.sources,
      requireKey: policy.requiresKey,
      keys: keys.length,
    },
    requestedAt: printInstant(instantMs(stored.requestedAt)),
    state: stored.isDone ? 'done' : isScanned ? 'settling' : 'judging',
    ...(stored.isDone && { doneAt: printInstant(instantMs(stored.changedAt)) }),
    scan: parts[0]?.scan ?? 1,
    partsDone: parts.length,
    parts: partCount,
    deliveries: parts.length === 0 ? noCounts : bought.counts,
    returns: parts.length === 0 ? noCounts : returned.counts,
    lostCredit: all.lostCredit.map(({ currency, count, units, value }) => ({
      currency,
      purchases: count,
      units,
      value: printAmount(value, currency),
    })),
    gainedValue: all.gainedValue.map(({ currency, count, value }) => ({
      currency,
      deliveries: count,
      value: printAmount(value, currency),
    })),
  }
}

interface JudgementRow {
  readonly id: string
  readonly publisherId: number
  readonly fromAt: string
  readonly toAt: string
  readonly requestedAt: string
  readonly reason: string
  readonly isDryRun: 0 | 1
  readonly assume: Assumption | ''
  readonly policy: string
  readonly keyId: string
  readonly keyName: string
  readonly stage: number
  readonly changedAt: string
}

function toStored(row: JudgementRow): StoredJudgement {
  const { fromAt, toAt, isDryRun, assume, policy, stage, ...rest } = row
  const pinned: PinnedPolicy = JSON.parse(policy)
  return {
    ...rest,
    fromMs: instantMs(fromAt),
    toMs: instantMs(toAt),
    isDryRun: isDryRun === 1,
    assume: assume === '' ? null : assume,
    pinned,
    isDone: stage === 2,
  }
}

const columns = `id, publisher_id AS publisherId, toString(from_at) AS fromAt, toString(to_at) AS toAt,
  toString(requested_at) AS requestedAt, reason, is_dry_run AS isDryRun, assume, policy,
  key_id AS keyId, key_name AS keyName, stage, toString(changed_at) AS changedAt`

const requestSql = `
INSERT INTO judgement (id, publisher_id, from_at, to_at, requested_at, reason, is_dry_run, assume, policy,
  key_id, key_name, stage, changed_at)
SELECT {id:String}, {publisherId:Int32}, {from:DateTime64(3, 'UTC')}, {to:DateTime64(3, 'UTC')}, now64(6),
  {reason:String}, {isDryRun:UInt8}, {assume:String}, {policy:String}, {keyId:String}, {keyName:String}, 1, now64(6)`

const partsSql = `
SELECT judgement_id AS judgementId, scan, part, is_done AS isDone, toString(began_at) AS beganAt, tally
FROM judgement_part FINAL
WHERE (judgement_id, scan) IN (
  SELECT judgement_id, max(scan) FROM judgement_part WHERE judgement_id IN {ids:Array(String)} GROUP BY judgement_id
)
ORDER BY judgement_id, part LIMIT 1000 BY judgement_id`
