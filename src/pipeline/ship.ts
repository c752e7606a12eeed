// Ships records from the spool to the warehouse, in batches that can be repeated: the rows of a record are a
// function of the record, and every table has a natural key. A batch leaves the spool only when all of it
// is synced in the warehouse or set aside with its reason.

import { readFinalDays } from '../days/final-days.ts'
import type { Spool, SpoolBatch } from '../spool/spool.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Refusal } from '../warehouse/aside-record.ts'
import { insertPlan } from './insert-batch.ts'
import type { InsertDeps } from './insert-batch.ts'
import { noRows, planBatch } from './plan.ts'
import type { Plan, PlannedRows } from './plan.ts'

export const shipLimits = {
  /**
   * Larger batches ship with less CPU, but take memory: two of them are held in a flood, as bytes of the spool and as
   * lines to insert (docs/decisions/0047).
   */
  recordsPerBatchMax: 20_000,
} as const

export interface ShipDeps extends InsertDeps {
  readonly spool: Spool
  readonly tracing?: Tracing | null
  /** Lowered by tests only. */
  readonly recordsPerBatchMax?: number
}

export interface ShipResult {
  readonly shippedCount: number
  readonly setAsideCount: number
  /** Of ad events that contradict the catalog. */
  readonly contradictions: readonly NonNullable<Refusal['contradiction']>[]
}

interface PlannedBatch {
  readonly batch: SpoolBatch
  readonly plan: Plan
}

const nothing = { shippedCount: 0, setAsideCount: 0, contradictions: [] } as const

/** Ships batch by batch. In a flood the next one is read and planned while one is inserted. */
export class Shipper {
  readonly #deps: ShipDeps
  readonly #recordsMax: number
  /** What follows the last batch. */
  #ahead: PlannedBatch | null = null
  /** The memory of the batch that was inserted last, for the one after the next; given back when a flood ends. */
  #spare: PlannedRows | null = null

  constructor(deps: ShipDeps) {
    this.#deps = deps
    this.#recordsMax = deps.recordsPerBatchMax ?? shipLimits.recordsPerBatchMax
  }

  /** Ships the oldest batch. Throws if the warehouse is unavailable; then the batch stays in the spool. */
  async shipBatch(): Promise<ShipResult> {
    const planned = this.#ahead ?? (await this.#planNext())
    // It is planned anew after any failure.
    this.#ahead = null
    if (planned === null) return nothing
    const { batch, plan } = planned
    const [inserted, ahead] = await Promise.allSettled([
      this.#insert(planned),
      batch.recordCount >= this.#recordsMax / 2 ? this.#planNext(batch) : null,
    ])
    if (inserted.status === 'rejected') throw inserted.reason
    await this.#deps.spool.remove(batch)
    // A batch that could not be planned is still in the spool, and the next call tells why.
    if (ahead.status === 'fulfilled') this.#ahead = ahead.value
    this.#spare = this.hasMore ? plan : null
    const refusals = inserted.value
    return {
      shippedCount: plan.recordCount,
      setAsideCount: refusals.length,
      contradictions: refusals.flatMap(({ contradiction }) => contradiction ?? []),
    }
  }

  /** A batch that holds records of traced requests is traced too, and linked to them. */
  async #insert({ batch, plan }: PlannedBatch): Promise<readonly Refusal[]> {
    const { tracing } = this.#deps
    const insert = () => insertPlan(this.#deps, () => batch.parts(), plan)
    if (tracing === undefined || tracing === null || plan.traces.length === 0) return await insert()
    const attributes = { 'shelftrace.records': plan.recordCount }
    return await tracing.run('ship batch', { links: plan.traces, attributes }, insert)
  }

  /** The next batch is planned and can be shipped at once. */
  get hasMore(): boolean {
    return this.#ahead !== null
  }

  /** Null if nothing waits. */
  async #planNext(after?: SpoolBatch): Promise<PlannedBatch | null> {
    const batch = this.#deps.spool.read(this.#recordsMax, after)
    if (batch.frames.length === 0) return null
    const { announcedBefore } = await readFinalDays(this.#deps.warehouse)
    const rows = this.#spare ?? noRows()
    this.#spare = null
    const plan = await planBatch(this.#deps, () => batch.parts(), { announcedBefore, rows })
    return { batch, plan }
  }
}
