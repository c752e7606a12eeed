// Plans a batch of records: turns each into the lines of its rows, part by part, and keeps no record. What speaks
// against a record is kept with it.

import { setImmediate } from 'node:timers/promises'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import type { DeliveredMs } from '../days/announce.ts'
import { tooLateBefore } from '../days/final-days.ts'
import { isReceiptInstant } from '../domain/windows.ts'
import type { AdEventRecord, SpoolRecord } from '../spool/record.ts'
import type { SpoolEntry, SpoolPart } from '../spool/spool.ts'
import type { OpenedToken } from '../tracking-data/tracking-data.ts'
import type { Refusal } from '../warehouse/aside-record.ts'
import { RowLines } from '../warehouse/row-lines.ts'
import {
  adEventColumns,
  adEventValues,
  deliveryColumns,
  deliveryValues,
  returnColumns,
  returnValues,
  touchColumns,
  touchValues,
} from './row-text.ts'
import { buildDeliveryRow, buildReturnRow, planAdEventRow } from './rows.ts'
import type { AdEventRow, BatchContext, RowContext } from './rows.ts'

/** Planning shares its thread with reports, which wait no longer than this and one part. */
const turnMsMax = 10

/** As many as a span may link to. */
const tracesMax = 128

/** Decoded anew by each call, in the same order. */
export type Parts = () => Iterable<SpoolPart>

export interface PlanDeps {
  readonly rowContext: RowContext
  /** Markets, whose days may be final. */
  readonly markets: () => readonly ReportMarket[]
}

/** Rows by table. The source of a row is the number of its record in the batch, from 0. */
export interface PlannedRows {
  readonly adEvents: RowLines
  readonly deliveries: RowLines
  readonly returns: RowLines
  /** The identities that counted events touched; the source is the instant of receipt. */
  readonly touches: RowLines
}

export interface Plan extends PlannedRows {
  /** What is set aside without being inserted. */
  readonly refusals: Refusal[]
  recordCount: number
  /** The contexts of traced requests among them, at most `tracesMax`. */
  readonly traces: string[]
  /** The receipts of deliveries; meaningless if there are none. */
  readonly deliveredMs: DeliveredMs
  /** Of the boundary of final days by which it was planned. */
  readonly announcedBefore: string | null
  /** By the monotonic clock. */
  readonly plannedAtMs: number
}

export function noRows(): PlannedRows {
  return {
    adEvents: new RowLines('ad_event_in', adEventColumns),
    deliveries: new RowLines('delivery_in', deliveryColumns),
    returns: new RowLines('purchase_return_in', returnColumns),
    touches: new RowLines('late_touchpoint_in', touchColumns),
  }
}

export interface PlanOptions {
  readonly announcedBefore: string | null
  /** Those of a batch that is done, for their memory. */
  readonly rows?: PlannedRows
}

export async function planBatch(deps: PlanDeps, parts: Parts, options: PlanOptions): Promise<Plan> {
  const planner = new Planner(deps, options)
  let turnEndsAtMs = performance.now() + turnMsMax
  for (const part of parts()) {
    await planner.add(part)
    if (performance.now() < turnEndsAtMs) continue
    await setImmediate()
    turnEndsAtMs = performance.now() + turnMsMax
  }
  await planner.reconsider()
  return planner.plan
}

/** An ad event that contradicts the catalog. */
interface Contradicting {
  readonly entry: AdEventEntry
  readonly opened: OpenedToken
  readonly source: number
}

interface AdEventEntry {
  readonly key: string
  readonly record: AdEventRecord
}

class Planner {
  readonly plan: Plan
  readonly #deps: PlanDeps
  readonly #context: BatchContext
  readonly #contradicting: Contradicting[] = []

  constructor(deps: PlanDeps, { announcedBefore, rows = noRows() }: PlanOptions) {
    this.#deps = deps
    for (const lines of [rows.adEvents, rows.deliveries, rows.returns, rows.touches]) lines.clear()
    const tooLate = tooLateBefore(announcedBefore, deps.markets())
    this.#context = { ...deps.rowContext, tooLate }
    this.plan = {
      ...rows,
      refusals: [],
      recordCount: 0,
      traces: [],
      deliveredMs: { first: Infinity, last: -Infinity },
      announcedBefore,
      plannedAtMs: performance.now(),
    }
  }

  async add({ entries, broken }: SpoolPart): Promise<void> {
    const { plan } = this
    for (const { key, reason, bytes } of broken) {
      plan.refusals.push({ key, reason, record: Buffer.from(bytes).toString('base64') })
    }
    await this.#deps.rowContext.deliveryJudge.prepare(entries.map(({ record }) => record))
    const open = openTokens(entries, this.#deps.rowContext)
    for (const [index, entry] of entries.entries()) {
      try {
        this.#addRecord(entry, plan.recordCount + index, open)
      } catch (error) {
        // A record of another version, for example, must not block those behind it for ever.
        plan.refusals.push(refusalOf(entry, error instanceof Error ? error.message : String(error)))
      }
    }
    plan.recordCount += entries.length + broken.length
  }

  /** Another node may have mended the catalog since this one read it. */
  async reconsider(): Promise<void> {
    if (this.#contradicting.length === 0) return
    await this.#deps.rowContext.refreshCatalog()
    for (const { entry, opened, source } of this.#contradicting) {
      const planned = planAdEventRow(entry.record, opened, this.#context)
      if (planned === null) continue
      const { row, contradiction } = planned
      if (contradiction === null) {
        this.#addAdEvent(row, source)
        continue
      }
      const { code, field, rule } = contradiction
      this.plan.refusals.push({
        ...refusalOf(entry, `the ad contradicts the catalog: ${field} ${rule}`),
        contradiction: { publisherId: row.publisher_id, rule: code },
      })
    }
  }

  #addRecord({ key, record }: SpoolEntry, source: number, open: OpenToken): void {
    const { plan } = this
    // Such a receipt would make a day of long ago the first of all reports, or name no day of any table.
    if (!isReceiptInstant(record.receivedAtMs)) {
      throw new Error('the clock of the node was not between 2020 and 2100 when this was received')
    }
    if (record.trace !== undefined && plan.traces.length < tracesMax) plan.traces.push(record.trace)
    switch (record.type) {
      case 'ad-event':
        return this.#planAdEvent({ key, record }, source, open(record.trackingData))
      case 'conversion': {
        plan.deliveries.add(deliveryValues(buildDeliveryRow(key, record, this.#context)), source)
        plan.deliveredMs.first = Math.min(plan.deliveredMs.first, record.receivedAtMs)
        plan.deliveredMs.last = Math.max(plan.deliveredMs.last, record.receivedAtMs)
        return
      }
      case 'return':
        plan.returns.add(returnValues(buildReturnRow(key, record, this.#context)), source)
    }
  }

  #planAdEvent(entry: AdEventEntry, source: number, opened: OpenedToken): void {
    const planned = planAdEventRow(entry.record, opened, this.#context)
    if (planned === null) {
      throw new Error('the tracking data no longer opens: its key has left the key ring')
    }
    if (planned.contradiction === null) this.#addAdEvent(planned.row, source)
    else this.#contradicting.push({ entry, opened, source })
  }

  #addAdEvent(row: AdEventRow, source: number): void {
    this.plan.adEvents.add(adEventValues(row), source)
    if (row.verdict !== 'counted' || row.kind === 'load') return
    for (const identity of [row.user_identity, row.login_identity]) {
      if (identity !== '') this.plan.touches.add(touchValues(row, identity), row.received_at_ms)
    }
  }
}

type OpenToken = (text: string) => OpenedToken

/** If opening them together fails, each is opened alone, and only the record at fault is set aside. */
function openTokens(
  entries: SpoolPart['entries'],
  { openAllTrackingData, openTrackingData }: RowContext
): OpenToken {
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

/** The records of these rows, in one look at all parts, because a plan keeps none. */
export function refuseSources(
  parts: Parts,
  refused: readonly { readonly source: number; readonly reason: string }[]
): readonly Refusal[] {
  const reasons = new Map(refused.map(({ source, reason }) => [source, reason]))
  const refusals: Refusal[] = []
  if (reasons.size === 0) return refusals
  let first = 0
  for (const { entries, broken } of parts()) {
    for (const [index, entry] of entries.entries()) {
      const reason = reasons.get(first + index)
      if (reason !== undefined) refusals.push(refusalOf(entry, reason))
    }
    first += entries.length + broken.length
  }
  return refusals
}

function refusalOf(
  { key, record }: { readonly key: string; readonly record: SpoolRecord },
  reason: string
): Refusal {
  return { key, reason, record: JSON.stringify(record) }
}
