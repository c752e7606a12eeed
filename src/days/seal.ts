// Writes the rollup of days that are over, under a new revision, and then one row per market and day that
// says which revision counts. There is no queue to keep right: every run asks which days are over and have no
// seal, or have one whose reading began before the day was last touched. So the step can run twice, or on two
// engines at once, and only work is wasted.

import { randomBytes } from 'node:crypto'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { dayBounds } from '../domain/day.ts'
import { ServiceError } from '../errors.ts'
import { formatInstant, instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { readFinalDays } from './final-days.ts'
import { dayKey, listUnits, rangeOfDays, unknownMarket } from './market-days.ts'
import type { DayRange } from './market-days.ts'
import { loadRates, printUsedRates } from './rates.ts'
import type { Rates } from './rates.ts'
import { isTooLarge, rollUp, SealBudget } from './roll-up.ts'
import type { SealShares } from './seal-shares.ts'
import { chooseBatch, findSealingWork } from './seal-work.ts'
import type { MarketDay, SealDeps } from './seal-work.ts'
import { definitionOf, rollupVersion } from './seals.ts'
import { beginRevision, sweepLimits } from './sweep.ts'

export interface SealResult {
  /** Markets times days. */
  readonly sealedCount: number
  readonly hasMore: boolean
  /** True: another engine declared days of the batch final meanwhile, so none of the batch was sealed. */
  readonly becameFinal: boolean
}

export interface SealOptions extends SealDeps {
  /** Kept by the caller from one batch to the next. Default: a new one. */
  readonly budget?: SealBudget
  /** Kept by the caller too. Absent: this engine seals everything. */
  readonly shares?: Pick<SealShares, 'choose'>
}

/** Seals the newest days that are over and not sealed; if there are none, renews days that were touched. */
export async function sealBatch(deps: SealOptions): Promise<SealResult> {
  const { warehouse, budget = new SealBudget() } = deps
  const readAt = await warehouseNow(warehouse)
  const found = await findSealingWork(deps, readAt)
  const work = deps.shares?.choose(found) ?? found
  const batch = await chooseBatch(warehouse, work, budget.eventsMax)
  if (batch.length === 0) return { sealedCount: 0, hasMore: false, becameFinal: false }

  await warehouse.barrier(['attribution'])
  const range = rangeOfDays(batch.map(({ day }) => day))
  const rates = await loadRates(warehouse, range)
  let becameFinal: boolean
  try {
    becameFinal = !(await seal(warehouse, {
      batch,
      range,
      rates,
      readAt,
      markets: deps.markets(),
      eventsMax: budget.eventsMax,
    }))
  } catch (error) {
    if (isTooLarge(error)) budget.shrink()
    throw error
  }
  budget.grow()
  const done = new Set<MarketDay>(batch)
  const due = [...work.unsealed, ...work.renewals.filter(({ isDue }) => isDue)]
  return {
    sealedCount: becameFinal ? 0 : batch.length,
    hasMore: due.some((one) => !done.has(one)),
    becameFinal,
  }
}

interface Sealing {
  readonly batch: readonly MarketDay[]
  readonly range: DayRange
  readonly markets: readonly ReportMarket[]
  readonly rates: Rates
  readonly readAt: string
  readonly eventsMax: number
}

/** False: days of the batch became final, and nothing was sealed. */
async function seal(warehouse: Warehouse, sealing: Sealing): Promise<boolean> {
  const { batch, range, markets, rates, readAt, eventsMax } = sealing
  const revision = randomBytes(8).readBigUInt64BE()
  const asked = listUnits(markets).map((market) => ({
    market,
    days: batch
      .filter(({ unit }) => unit.id === market.id)
      .map(({ day }) => day)
      .toSorted(),
  }))
  await beginRevision(warehouse, { revision, range, readAt })
  const isWhole = await rollUp(warehouse, { asked, rates, revision, readAt, eventsMax })

  await warehouse.barrier(['product_day'])
  const details = await readDetails(warehouse, revision, range)
  // An engine that was held up must not seal days that another one has declared final meanwhile: their events
  // may be gone.
  const { finalBefore } = await readFinalDays(warehouse)
  if (finalBefore !== null && range.first < finalBefore) return false
  const seals = batch.map(({ unit, day }) => {
    const bounds = dayBounds(day, unit.timeZone)
    const { currencies, unknownIds } = details.get(dayKey(unit.id, day)) ?? nothing
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
      is_whole: isWhole ? 1 : 0,
      unknown_ids: isUnknown ? JSON.stringify(unknownIds) : '',
      rates: printUsedRates({ day, currencies: isUnknown ? [] : inBoth(currencies, unit) }, rates),
    }
  })
  await announceSeals(warehouse, { seals, revision, readAt })
  return true
}

/** A foreign amount is converted by the rate of its currency and that of the market's. */
function inBoth(currencies: readonly string[], unit: ReportMarket): readonly string[] {
  return currencies.length === 0 ? [] : [...currencies, unit.currency]
}

interface Details {
  readonly currencies: readonly string[]
  /** Which of the unknown markets have rows. */
  readonly unknownIds: readonly number[]
}

const nothing: Details = { currencies: [], unknownIds: [] }

/** The facts that tell later whether the figures of the days would still come out the same. */
async function readDetails(
  warehouse: Warehouse,
  revision: bigint,
  range: DayRange
): Promise<ReadonlyMap<string, Details>> {
  const rows = await warehouse.rows<Details & { unit: number; day: string }>(
    `SELECT unit, toString(d.day) AS day, arraySort(groupUniqArrayArray(foreign_currencies)) AS currencies,
       arraySort(groupUniqArrayIf(market_id, unit = 0)) AS unknownIds
     FROM product_day AS d
     WHERE d.day >= {first:Date} AND d.day <= {last:Date} AND revision = {revision:UInt64}
     GROUP BY unit, d.day`,
    { revision, ...range }
  )
  return new Map(rows.map((row) => [dayKey(row.unit, row.day), row]))
}

/** Far below the minute by which the answers to clients that poll for new seals overlap. */
const visibleMsMax = 10_000
const triesMax = 10

interface NewSeals {
  /** Rows of `sealed_day` without `sealed_at`. */
  readonly seals: readonly Readonly<Record<string, string | number>>[]
  readonly revision: bigint
  readonly readAt: string
}

/**
 * Switches to a revision by one insert. A seal that becomes visible long after the instant it carries (a
 * suspended process, a warehouse that hangs) would be missed by clients that polled in between, so it is
 * announced again, under a later instant. A reading that began hours ago does not count: its rows may be
 * swept before long.
 */
export async function announceSeals(warehouse: Warehouse, news: NewSeals): Promise<void> {
  const { seals, revision, readAt } = news
  const tookMs = instantMs(await warehouseNow(warehouse)) - instantMs(readAt)
  if (tookMs > sweepLimits.sealingMsMax) throw tookTooLong()
  for (let tries = 0; tries < triesMax; tries++) {
    const sealedAt = await warehouseNow(warehouse)
    const lines = seals.map((row) => JSON.stringify({ ...row, sealed_at: sealedAt }))
    await warehouse.insert('sealed_day', Buffer.from(`${lines.join('\n')}\n`))
    const visibleAtMs = instantMs(await warehouseNow(warehouse))
    if (visibleAtMs - instantMs(readAt) > sweepLimits.orphanMs / 2) {
      await warehouse.command('DELETE FROM sealed_day WHERE revision = {revision:UInt64}', {
        revision,
      })
      throw tookTooLong()
    }
    if (visibleAtMs - instantMs(sealedAt) <= visibleMsMax) return
  }
  throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'new seals repeatedly became visible too late')
}

function tookTooLong(): ServiceError {
  return new ServiceError('WAREHOUSE_UNAVAILABLE', 'a sealing took hours and does not count')
}
