import { dayOf, daysBetween } from '../domain/day.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { readSealedThrough } from './sealed-days.ts'
import type { SealedThrough } from './sealed-days.ts'

interface SealedDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'barrier'>
  readonly markets: () => readonly ReportMarket[]
}

/** Up to which day each market is sealed. */
export async function readSealedOfAll(
  { warehouse, markets }: SealedDeps,
  nowMs: number
): Promise<readonly SealedThrough[]> {
  return await readSealedThrough(warehouse, markets(), dayOf(nowMs, 'UTC'))
}

/** How many past days are not sealed, in the market with the most of them. */
export async function countUnsealedDays(deps: SealedDeps, nowMs: number): Promise<number> {
  const zones = new Map(deps.markets().map(({ id, timeZone }) => [id, timeZone]))
  const counts = (await readSealedOfAll(deps, nowMs)).map(({ marketId, openFrom }) => {
    const today = dayOf(nowMs, zones.get(marketId) ?? 'UTC')
    return openFrom === null ? 0 : Math.max(0, daysBetween(openFrom, today))
  })
  return Math.max(0, ...counts)
}
