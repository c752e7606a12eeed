// Plays generated histories through all steps, from shipping to erasure, on a replica that lags. Beside it stands the
// same world without lag, in which everything arrives at once.

import { setTimeout as sleep } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { rebuildDays } from '../../src/days/rebuild.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import { eraseDue } from '../../src/erasure/erase.ts'
import { requestErasure } from '../../src/erasure/erasures.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { History } from './history.ts'
import { generateHistory, seededRandom } from './history.ts'
import { partsOf } from './history-warehouse.ts'
import { openLaggingWarehouse } from './lagging-warehouse.ts'
import type { LagOptions } from './lagging-warehouse.ts'
import { aWorldIn, readFigures } from './seal-scenario.ts'
import type { World } from './seal-scenario.ts'
import { hashIdentity, openTrackingData } from './shipment.ts'
import { silentLog } from './silent-log.ts'
import { openMigratedWarehouse } from './test-warehouse.ts'

const startMs = Date.UTC(2026, 1, 1)
const range = { startDate: '2026-02-01', endDate: '2026-03-12' }
const historyCount = 2
const arrivals = 3

/** Reports by day of every advertiser; `isWhole`: also those of all days together. */
async function readReports(
  warehouse: Warehouse,
  histories: readonly History[],
  { isWhole }: { readonly isWhole: boolean }
): Promise<readonly string[]> {
  const { markets } = aWorldIn(warehouse)
  const advertisers = new Set(
    histories.flatMap(({ events }) => events.map(({ ad }) => ad.advertiserId))
  )
  const lines: string[] = []
  for (const advertiserId of [...advertisers].toSorted((a, b) => a - b)) {
    for (const isByDay of isWhole ? [true, false] : [true]) {
      const found = await readFigures(warehouse, markets, { ...range, advertiserId, isByDay })
      lines.push(...found.map((line) => `${advertiserId} ${line.replace(/ (open|sealed)/u, '')}`))
    }
  }
  return lines
}

function aHistory(seed: number, index: number): History {
  return generateHistory(seededRandom(seed * 100 + index), { publisherId: 100 + index, startMs })
}

/** What went wrong first: differences between reports, or a failure. Empty if all is as it should be. */
export async function playLagging(
  t: TestContext,
  options: LagOptions
): Promise<{ readonly faults: readonly string[]; readonly lineCount: number }> {
  const histories = Array.from({ length: historyCount }, (_, index) =>
    aHistory(options.seed, index)
  )
  const expected = await playAtOnce(histories)
  const { lagging, current } = await openLaggingWarehouse(t, options)
  const world = aWorldIn(lagging)
  const faults: string[] = []
  const compare = (when: string, seen: readonly string[], wanted: readonly string[]): void => {
    const missing = wanted.filter((line) => !seen.includes(line)).map((line) => `- ${line}`)
    const wrong = seen.filter((line) => !wanted.includes(line)).map((line) => `+ ${line}`)
    faults.push(...[...missing, ...wrong].map((line) => `${when}: ${line}`))
  }
  try {
    for await (const when of steps(world, histories, options.seed)) {
      // A report never shows less than was committed before it was asked for.
      const isWhole = when.startsWith('all')
      const seen = await readReports(lagging, histories, { isWhole })
      const wanted = isWhole ? expected : await readReports(current, histories, { isWhole })
      compare(when, seen, wanted)
      if (faults.length > 0) break
    }
  } catch (error) {
    faults.push(String(error))
  }
  return { faults, lineCount: expected.length }
}

/** In a warehouse that is closed again, because a process has one folder at a time. */
async function playAtOnce(histories: readonly History[]): Promise<readonly string[]> {
  const warehouse = await openMigratedWarehouse()
  try {
    const world = aWorldIn(warehouse)
    await world.loader.ship(histories.flatMap(partsOf))
    await judge(world, histories)
    await settle(world)
    return await readReports(warehouse, histories, { isWhole: true })
  } finally {
    await warehouse.close()
  }
}

async function settle(world: World): Promise<void> {
  // Attribution asks for purchases that became pending before it began reading.
  await sleep(2)
  await world.settle()
}

async function judge({ loader }: World, histories: readonly History[]): Promise<void> {
  const judgeable = histories.flatMap(({ deliveries, returns }) => [...deliveries, ...returns])
  await loader.judge(judgeable)
  await loader.void(judgeable.filter(({ voided }) => voided === true))
}

/** Says what was done whenever reports are to be compared. */
async function* steps(
  world: World,
  histories: readonly History[],
  seed: number
): AsyncGenerator<string> {
  const random = seededRandom(seed + 7)
  const chunks = Array.from({ length: arrivals }, (): ReturnType<typeof partsOf> => [])
  for (const part of histories.flatMap(partsOf)) {
    chunks[Math.floor(random() * arrivals)]?.push(part)
  }
  for (const [index, chunk] of chunks.entries()) {
    await world.loader.ship(chunk)
    if (index % 2 === 1) continue
    await settle(world)
    yield `arrival ${index}`
  }
  await judge(world, histories)
  await settle(world)
  yield 'all judged'
  const { warehouse, markets } = world
  while (await sumNextSpan({ warehouse, markets: () => markets, settledMs: 0 }));
  await new Sweeper({ warehouse, keepMs: 0 }).sweep()
  yield 'all summed and swept'
  await erase(world, histories)
  await rebuildDays({ warehouse, firstDay: range.startDate, lastDay: range.endDate })
  await settle(world)
  yield 'all erased, rebuilt'
}

async function erase({ warehouse }: World, histories: readonly History[]): Promise<void> {
  for (const { publisherId, deliveries } of histories) {
    const [person] = deliveries
    if (person === undefined) continue
    const identities = [
      hashIdentity('user', publisherId, person.userId),
      hashIdentity('login', publisherId, person.userLoggedInId),
    ].filter((identity) => identity !== '')
    if (identities.length > 0) await requestErasure(warehouse, { publisherId, identities })
  }
  const rowContext = { openTrackingData, hashIdentity }
  const deps = { warehouse, rowContext, settleMs: 0, visibilityMs: 0, log: silentLog }
  const { waitingCount } = await eraseDue(deps)
  if (waitingCount > 0) throw new Error(`${waitingCount} erasures wait`)
}
