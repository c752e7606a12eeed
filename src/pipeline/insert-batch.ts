// Inserts a planned batch: ad events, then the touchpoints that came late, then deliveries, then returns.

import type { Logger } from 'pino'
import { announceIfSlow, pend } from '../days/announce.ts'
import { readFinalDays } from '../days/final-days.ts'
import { addDays } from '../domain/day.ts'
import { pendReturnedSql } from '../attribution/returned-sql.ts'
import { minimized } from '../warehouse/aside-record.ts'
import type { Refusal } from '../warehouse/aside-record.ts'
import { insertRows } from '../warehouse/insert-rows.ts'
import type { RefusalStreaks } from '../warehouse/insert-rows.ts'
import { warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { announceLateTouchpoints } from './late-touchpoints.ts'
import { planBatch, refuseSources } from './plan.ts'
import type { Parts, Plan, PlanDeps } from './plan.ts'
import type { RowContext } from './rows.ts'

export interface InsertDeps extends PlanDeps {
  readonly warehouse: Warehouse
  readonly settleMs: number
  readonly log: Logger
  readonly streaks: RefusalStreaks | null
  /** Lowered by tests only. */
  readonly planAgeMsMax?: number
}

/** The catalog and the keys by which a batch was planned are no older when it is inserted. */
const planAgeMsMax = 5_000

/**
 * When this resolves, every record is synced in the warehouse or set aside with its reason. Returns those
 * that were set aside. Doing it again changes nothing.
 */
export async function insertRecords(deps: InsertDeps, parts: Parts): Promise<readonly Refusal[]> {
  const { announcedBefore } = await readFinalDays(deps.warehouse)
  return await insertPlan(deps, parts, await planBatch(deps, parts, { announcedBefore }))
}

/**
 * The same for a batch that was planned before. It is planned again if the boundary of final days has moved since,
 * or if that was too long ago.
 */
export async function insertPlan(
  deps: InsertDeps,
  parts: Parts,
  planned: Plan
): Promise<readonly Refusal[]> {
  // In this order: what is shipped after a boundary was announced must know of it.
  const shippedAt = await warehouseNow(deps.warehouse)
  const { announcedBefore } = await readFinalDays(deps.warehouse)
  const isCurrent =
    planned.announcedBefore === announcedBefore &&
    performance.now() - planned.plannedAtMs <= (deps.planAgeMsMax ?? planAgeMsMax)
  const plan = isCurrent
    ? planned
    : await planBatch(deps, parts, { announcedBefore, rows: planned })
  for (const rows of [plan.adEvents, plan.deliveries, plan.returns]) rows.stamp(shippedAt)

  // Touchpoints before deliveries: a purchase that is visible has its touchpoints beside it.
  const refused = [...(await insertRows({ ...deps, rows: plan.adEvents }))]
  await announceLateTouchpoints(deps, plan.touches)
  refused.push(...(await insertRows({ ...deps, rows: plan.deliveries })))
  refused.push(...(await insertRows({ ...deps, rows: plan.returns })))
  if (plan.returns.count > 0) await announceReturns(deps, { shippedAt, announcedBefore })
  const deliveredMs = plan.deliveries.count === 0 ? null : plan.deliveredMs
  await announceIfSlow(deps, { shippedAt, deliveredMs })
  const refusals = [...plan.refusals, ...refuseSources(parts, refused)]
  if (refusals.length > 0) await setAside(deps, refusals)
  return refusals
}

export async function setAside(
  deps: Pick<InsertDeps, 'warehouse' | 'log'> & { readonly rowContext: RowContext },
  refusals: readonly Refusal[]
): Promise<void> {
  const at = await warehouseNow(deps.warehouse)
  const { callerOf } = deps.rowContext
  const lines = refusals.map((refusal) => {
    const { publisherId = 0, rule = '' } = refusal.contradiction ?? {}
    const { key, reason, record } = minimized(refusal, callerOf)
    return JSON.stringify({
      key,
      reason,
      record,
      set_aside_at: at,
      publisher_id: publisherId,
      rule,
    })
  })
  await deps.warehouse.insert('set_aside', Buffer.from(lines.join('\n') + '\n'))
  deps.log.error({ count: refusals.length }, 'records were set aside; see status')
}

/**
 * Makes the purchases of returns pending again, from the instant at which the returns are visible. A return
 * that comes before its purchase finds none; the delivery makes the purchase pending when it comes.
 * Purchases of final days stay as they are: the data they would be attributed from may be dropped.
 */
async function announceReturns(
  deps: Pick<InsertDeps, 'warehouse'>,
  { shippedAt, announcedBefore }: Returned
): Promise<void> {
  // A day of any time zone begins within the UTC day before.
  const firstDay = announcedBefore === null ? '1970-01-01' : addDays(announcedBefore, -1)
  await pend(deps.warehouse, ['returned_purchase', 'purchase'], (visibleAt) =>
    deps.warehouse.command(pendReturnedSql, { shippedAt, visibleAt, firstDay })
  )
}

interface Returned {
  readonly shippedAt: string
  readonly announcedBefore: string | null
}
