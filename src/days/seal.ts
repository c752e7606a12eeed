// Writes the rollup of days that are over, under a new revision, and then one row per market and day
// that says which revision counts. There is no queue to keep right: what is to be sealed is what is
// over and has no seal, or one whose reading began before the day was touched last. So the step can
// run twice, or on two engines at once, and only work is wasted.

import { randomBytes } from 'node:crypto'
import { dayBounds } from '../domain/day.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { listUnits } from './day-bounds.ts'
import { unknownMarket } from './day-rows.ts'
import { readFinalDays } from './final-days.ts'
import { loadRates } from './rates.ts'
import type { Rates } from './rates.ts'
import { definitionOf, rollupVersion } from './seals.ts'
import { ServiceError } from '../errors.ts'
import { printUsedRates } from './used-rates.ts'
import { formatInstant, instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { isTooLarge, rollUp, SealBudget } from './roll-up.ts'
import { chooseBatch, findSealingWork } from './seal-work.ts'
import type { MarketDay, SealDeps } from './seal-work.ts'
import { announceSeals } from './announce-seals.ts'
import { beginRevision, sweepLimits } from './sweep.ts'

export interface SealResult {
  /** Markets times days. */
  readonly sealedCount: number
  readonly hasMore: boolean
}

export interface SealOptions extends SealDeps {
  /** Kept by the caller from one batch to the next; absent: that of the start. */
  readonly budget?: SealBudget
}

/** Seals the newest days that are over and not sealed; when there are none, renews what was touched. */
export async function sealBatch(deps: SealOptions): Promise<SealResult> {
  const { warehouse, budget = new SealBudget() } = deps
  const readAt = await warehouseNow(warehouse)
  const work = await findSealingWork(deps, readAt)
  const batch = await chooseBatch(warehouse, work, budget.eventsMax)
  if (batch.length === 0) return { sealedCount: 0, hasMore: false }

  const days = batch.map(({ day }) => day).toSorted()
  const rates = await loadRates(warehouse, { first: days[0] ?? '', last: days.at(-1) ?? '' })
  try {
    await seal(warehouse, { batch, markets: deps.markets(), rates, readAt, budget })
  } catch (error) {
    if (isTooLarge(error)) budget.shrink()
    throw error
  }
  budget.grow()
  const sealed = new Set<MarketDay>(batch)
  const due = [...work.unsealed, ...work.renewals.filter(({ isDue }) => isDue)]
  return { sealedCount: batch.length, hasMore: due.some((one) => !sealed.has(one)) }
}

interface Sealing {
  readonly batch: readonly MarketDay[]
  readonly markets: readonly ReportMarket[]
  readonly rates: Rates
  readonly readAt: string
  readonly budget: SealBudget
}

async function seal(warehouse: Warehouse, sealing: Sealing): Promise<void> {
  const { batch, markets, rates, readAt, budget } = sealing
  const revision = randomBytes(8).readBigUInt64BE()
  const daysOf = (unit: ReportMarket): readonly string[] =>
    batch
      .filter((one) => one.unit.id === unit.id)
      .map(({ day }) => day)
      .toSorted()
  const asked = listUnits(markets).map((market) => ({ market, days: daysOf(market) }))
  const days = batch.map(({ day }) => day).toSorted()
  const range = { first: days[0] ?? '', last: days.at(-1) ?? '' }
  await beginRevision(warehouse, { revision, range, readAt })
  await rollUp(warehouse, { asked, rates, revision, readAt, eventsMax: budget.eventsMax })

  const details = await readDetails(warehouse, revision, range)
  // An engine that was held up must not seal what another one has declared final meanwhile: its events
  // may be gone. Nor what it read so long ago that its rows may be swept. They are, if they are not yet.
  const { finalBefore } = await readFinalDays(warehouse)
  if (finalBefore !== null && batch.some(({ day }) => day < finalBefore)) return
  const sealedAt = await warehouseNow(warehouse)
  if (instantMs(sealedAt) - instantMs(readAt) > sweepLimits.sealingMsMax) {
    throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'a sealing took so long that it does not count')
  }
  const seals = batch.map(({ unit, day }) => {
    const bounds = dayBounds(day, unit.timeZone)
    const { currencies, unknownIds } = details.get(keyOf(unit.id, day)) ?? nothing
    const isUnknown = unit.id === unknownMarket.id
    return {
      day,
      unit: unit.id,
      from_at: formatInstant(bounds.fromMs),
      to_at: formatInstant(bounds.toMs),
      revision: String(revision),
      read_at: readAt,
      definition: definitionOf(unit, markets),
      rollup_version: rollupVersion,
      unknown_ids: isUnknown ? JSON.stringify(unknownIds) : '',
      rates: printUsedRates({ day, currencies: isUnknown ? [] : inBoth(currencies, unit) }, rates),
    }
  })
  await announceSeals(warehouse, { seals, revision, readAt })
}

/** A foreign amount is converted by the rate of its currency and that of the market's. */
function inBoth(currencies: readonly string[], unit: ReportMarket): readonly string[] {
  return currencies.length === 0 ? [] : [...currencies, unit.currency]
}

interface Details {
  readonly currencies: readonly string[]
  /** Of the unknown markets those that have rows. */
  readonly unknownIds: readonly number[]
}

const nothing: Details = { currencies: [], unknownIds: [] }

/** What tells later whether the figures of the days would still come out the same. */
async function readDetails(
  warehouse: Warehouse,
  revision: bigint,
  range: { readonly first: string; readonly last: string }
): Promise<ReadonlyMap<string, Details>> {
  const rows = await warehouse.rows<Details & { unit: number; day: string }>(
    `SELECT unit, toString(d.day) AS day, arraySort(groupUniqArrayArray(foreign_currencies)) AS currencies,
       arraySort(groupUniqArrayIf(market_id, unit = 0)) AS unknownIds
     FROM product_day AS d
     WHERE d.day >= {first:Date} AND d.day <= {last:Date} AND revision = {revision:UInt64}
     GROUP BY unit, d.day`,
    { revision, ...range }
  )
  return new Map(rows.map((row) => [keyOf(row.unit, row.day), row]))
}

function keyOf(unit: number, day: string): string {
  return `${unit} ${day}`
}
