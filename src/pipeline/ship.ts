// Ships records from the spool to the warehouse, in batches that can be repeated: the rows of a record are a
// function of the record, and every table has a natural key. A batch leaves the spool only when all of it
// is synced in the warehouse or set aside with its reason.

import type { Logger } from 'pino'
import { addDays } from '../domain/day.ts'
import {
  clickCountableMs,
  crowdWindowMs,
  earlyToleranceMs,
  isReceiptInstant,
} from '../domain/windows.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import type { AdEventRecord } from '../spool/record.ts'
import type { Spool, SpoolBatch, SpoolEntry } from '../spool/spool.ts'
import { instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { announceIfSlow, pend } from '../days/announce.ts'
import { minimized } from '../warehouse/aside-record.ts'
import { insertRows } from '../warehouse/insert-rows.ts'
import type { PlannedRow, Refusal, RefusalStreaks } from '../warehouse/insert-rows.ts'
import type { OpenedToken, Opener } from '../tracking-data/tracking-data.ts'
import { planAdEventRow, buildDeliveryRow, buildReturnRow } from './rows.ts'
import type { BatchContext, RowContext } from './rows.ts'
import { readFinalDays, tooLateBefore } from '../days/final-days.ts'
import { pendReturnedSql } from '../attribution/returned-sql.ts'

export const shipLimits = {
  // Larger batches ship with less CPU, but cost memory on both sides of the insert. Draining 120,000 events,
  // the engine's peak was 506 MB with 5,000 and 548 MB with 10,000 (docs/decisions/0042).
  recordsPerBatchMax: 5_000,
} as const

export interface ShipDeps {
  readonly spool: Spool
  readonly warehouse: Warehouse
  readonly rowContext: RowContext
  readonly settleMs: number
  /** Markets, whose days may be final. */
  readonly markets: () => readonly ReportMarket[]
  readonly log: Logger
  readonly streaks: RefusalStreaks | null
}

export interface ShipResult {
  readonly shippedCount: number
  readonly setAsideCount: number
  /** Of ad events that contradict the catalog. */
  readonly contradictions: readonly NonNullable<Refusal['contradiction']>[]
}

/** Ships the oldest batch. Throws if the warehouse is unavailable; then the batch stays in the spool. */
export async function shipBatch(deps: ShipDeps): Promise<ShipResult> {
  const batch = deps.spool.read(shipLimits.recordsPerBatchMax)
  if (batch.frames.length === 0) return { shippedCount: 0, setAsideCount: 0, contradictions: [] }
  const refusals = await insertRecords(deps, batch)

  await deps.spool.remove(batch)
  return {
    shippedCount: batch.entries.length + batch.broken.length,
    setAsideCount: refusals.length,
    contradictions: refusals.flatMap(({ contradiction }) => contradiction ?? []),
  }
}

/**
 * When this resolves, every record is synced in the warehouse or set aside with its reason. Returns those
 * that were set aside. Doing it again changes nothing.
 */
export async function insertRecords(
  deps: Omit<ShipDeps, 'spool'>,
  batch: Pick<SpoolBatch, 'entries' | 'broken'>
): Promise<readonly Refusal[]> {
  await deps.rowContext.deliveryJudge.prepare(batch.entries.map(({ record }) => record))
  // Before anything is read at an instant: this takes longest, and depends on the key ring alone.
  const opened = { ...batch, open: openTokens(batch, deps.rowContext) }
  let planned = await planBatch(deps, opened)
  if (planned.refusals.some(({ contradiction }) => contradiction !== undefined)) {
    // Another node may have mended the catalog since this one read it.
    await deps.rowContext.refreshCatalog()
    planned = await planBatch(deps, opened)
  }
  const { shippedAt, announcedBefore, refusals } = planned

  // Touchpoints before deliveries: a purchase that is visible has its touchpoints beside it.
  refusals.push(...(await insertRows({ ...deps, table: 'ad_event_in', rows: planned.adEvents })))
  await announceLateTouchpoints(deps, planned.touches)
  refusals.push(...(await insertRows({ ...deps, table: 'delivery_in', rows: planned.deliveries })))
  refusals.push(
    ...(await insertRows({ ...deps, table: 'purchase_return_in', rows: planned.returns }))
  )
  if (planned.returns.length > 0) await announceReturns(deps, { shippedAt, announcedBefore })
  await announceIfSlow(deps, { shippedAt, deliveries: planned.deliveries })
  if (refusals.length > 0) await setAside(deps, refusals)
  return refusals
}

interface Touch {
  readonly publisherId: number
  readonly identity: string
  readonly receivedAtMs: number
}

interface PlannedBatch extends Plan {
  readonly shippedAt: string
  readonly announcedBefore: string | null
}

interface OpenedBatch extends Pick<SpoolBatch, 'entries' | 'broken'> {
  readonly open: Opener['open']
}

/** If opening them together fails, each is opened alone, and only the record at fault is set aside. */
function openTokens(
  { entries }: Pick<SpoolBatch, 'entries'>,
  { openAllTrackingData, openTrackingData }: RowContext
): Opener['open'] {
  const texts = new Set<string>()
  for (const { record } of entries) if (record.type === 'ad-event') texts.add(record.trackingData)
  const opened = new Map<string, OpenedToken>()
  try {
    const tokens = openAllTrackingData([...texts])
    for (const text of texts) {
      const token = tokens[opened.size]
      if (token !== undefined) opened.set(text, token)
    }
  } catch {
    return openTrackingData
  }
  return (text) => opened.get(text) ?? openTrackingData(text)
}

async function planBatch(
  deps: Omit<ShipDeps, 'spool'>,
  { open, ...batch }: OpenedBatch
): Promise<PlannedBatch> {
  const shippedAt = await warehouseNow(deps.warehouse)
  const { announcedBefore } = await readFinalDays(deps.warehouse)
  const tooLate = tooLateBefore(announcedBefore, deps.markets())
  const context = { ...deps.rowContext, tooLate }
  const plan = planRows(batch, { shippedAt, context, open })
  return { ...plan, shippedAt, announcedBefore }
}

interface Plan {
  /** What is set aside without being inserted. */
  readonly refusals: Refusal[]
  readonly adEvents: PlannedRow[]
  readonly deliveries: PlannedRow[]
  readonly returns: PlannedRow[]
  readonly touches: Touch[]
}

interface PlanOptions {
  readonly open: Opener['open']
  readonly shippedAt: string
  readonly context: BatchContext
}

function planRows(
  { entries, broken }: Pick<SpoolBatch, 'entries' | 'broken'>,
  options: PlanOptions
): Plan {
  const refusals = broken.map(({ key, reason, bytes }) => ({
    key,
    reason,
    record: Buffer.from(bytes).toString('base64'),
  }))
  const plan: Plan = { refusals, adEvents: [], deliveries: [], returns: [], touches: [] }
  for (const entry of entries) {
    try {
      planRow(plan, entry, options)
    } catch (error) {
      // A record of another version, for example, must not block those behind it for ever.
      const reason = error instanceof Error ? error.message : String(error)
      plan.refusals.push({ key: entry.key, reason, record: JSON.stringify(entry.record) })
    }
  }
  return plan
}

function planRow(plan: Plan, { key, record }: SpoolEntry, options: PlanOptions): void {
  const { shippedAt, context } = options
  // Such a receipt would make a day of long ago the first of all reports, or name no day of any table.
  if (!isReceiptInstant(record.receivedAtMs)) {
    throw new Error('the clock of the node was not between 2020 and 2100 when this was received')
  }
  switch (record.type) {
    case 'ad-event':
      return planAdEvent(plan, { key, record }, options)
    case 'conversion': {
      const row = { ...buildDeliveryRow(key, record, context), shipped_at: shippedAt }
      plan.deliveries.push({ key, record, line: JSON.stringify(row) })
      return
    }
    case 'return': {
      const row = { ...buildReturnRow(key, record, context), shipped_at: shippedAt }
      plan.returns.push({ key, record, line: JSON.stringify(row) })
    }
  }
}

interface AdEventEntry {
  readonly key: string
  readonly record: AdEventRecord
}

function planAdEvent(plan: Plan, { key, record }: AdEventEntry, options: PlanOptions): void {
  const { shippedAt, context } = options
  const planned = planAdEventRow(record, options.open(record.trackingData), context)
  if (planned === null) {
    const reason = 'the tracking data no longer opens: its key has left the key ring'
    plan.refusals.push({ key, reason, record: JSON.stringify(record) })
    return
  }
  const { row, contradiction } = planned
  if (contradiction !== null) {
    const { code, field, rule } = contradiction
    plan.refusals.push({
      key,
      reason: `the ad contradicts the catalog: ${field} ${rule}`,
      record: JSON.stringify(record),
      contradiction: { publisherId: row.publisher_id, rule: code },
    })
    return
  }
  plan.adEvents.push({ key, record, line: JSON.stringify({ ...row, shipped_at: shippedAt }) })
  if (row.verdict !== 'counted' || row.kind === 'load') return
  for (const identity of [row.user_identity, row.login_identity]) {
    if (identity === '') continue
    plan.touches.push({
      publisherId: row.publisher_id,
      identity,
      receivedAtMs: row.received_at_ms,
    })
  }
}

export async function setAside(
  deps: Pick<ShipDeps, 'warehouse' | 'log' | 'rowContext'>,
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
 * A purchase is read for attribution `settleMs` after its shipping at the earliest, so a touchpoint that is
 * visible within that time of its receipt is always seen. An older one may have been missed by purchases
 * after it: those are made pending again. The clocks of nodes may differ, because a purchase is pending no
 * earlier than its own receipt; one second allows for rounding.
 */
async function announceLateTouchpoints(
  deps: Pick<ShipDeps, 'warehouse' | 'settleMs'>,
  touches: readonly Touch[]
): Promise<void> {
  if (touches.length === 0) return
  const visibleAt = await warehouseNow(deps.warehouse)
  const lateBeforeMs = instantMs(visibleAt) - deps.settleMs + 1_000
  const late = touches.filter((touch) => touch.receivedAtMs < lateBeforeMs)
  if (late.length === 0) return
  const lines = late.map((touch) =>
    JSON.stringify({
      shipped_at: visibleAt,
      publisher_id: touch.publisherId,
      identity: touch.identity,
      received_at_ms: touch.receivedAtMs,
    })
  )
  await deps.warehouse.insert('late_touchpoint_in', Buffer.from(lines.join('\n') + '\n'))
  await pend(deps.warehouse, (at) =>
    deps.warehouse.command(pendAgainSql, { at, shippedAt: visibleAt, reachMs: lateReachMs })
  )
}

/**
 * Makes the purchases of returns pending again, from the instant at which the returns are visible. A return
 * that comes before its purchase finds none; the delivery makes the purchase pending when it comes.
 * Purchases of final days stay as they are: the data they would be attributed from may be dropped.
 */
async function announceReturns(
  deps: Pick<ShipDeps, 'warehouse'>,
  { shippedAt, announcedBefore }: Returned
): Promise<void> {
  // A day of any time zone begins within the UTC day before.
  const firstDay = announcedBefore === null ? '1970-01-01' : addDays(announcedBefore, -1)
  await pend(deps.warehouse, (visibleAt) =>
    deps.warehouse.command(pendReturnedSql, { shippedAt, visibleAt, firstDay })
  )
}

interface Returned {
  readonly shippedAt: string
  readonly announcedBefore: string | null
}

/**
 * How long after a late touchpoint purchases may change. The touchpoint may be the earlier receipt of a
 * served ad whose repeat counted so far; then that repeat, up to 7 days later, loses its credit as well.
 * Either may win or lose purchases of 14 days, and change which ids are crowds for those of 15 days.
 */
const lateReachMs = crowdWindowMs + clickCountableMs + earlyToleranceMs

/** Makes the purchases pending whose credit late touchpoints may change. */
const pendAgainSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT DISTINCT {at:DateTime64(6, 'UTC')}, toDate(p.received_at), p.purchase_key
FROM purchase_identity AS p
INNER JOIN (
  SELECT publisher_id, identity, min(received_at) AS first_at, max(received_at) AS last_at
  FROM late_touchpoint
  WHERE shipped_at = {shippedAt:DateTime64(6, 'UTC')}
  GROUP BY publisher_id, identity
) AS t ON t.publisher_id = p.publisher_id AND t.identity = p.identity
WHERE (p.publisher_id, p.identity) IN (
    SELECT publisher_id, identity FROM late_touchpoint
    WHERE shipped_at = {shippedAt:DateTime64(6, 'UTC')}
  )
  AND p.received_at >= t.first_at
  AND p.received_at <= t.last_at + toIntervalMillisecond({reachMs:Int64})`
