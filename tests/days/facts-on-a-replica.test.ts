// A report on a replica that fetches the newest rows of one table before older rows of another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Warehouse, WarehouseTable } from '../../src/warehouse/warehouse.ts'
import { openLaggingWarehouse } from '../helpers/lagging-warehouse.ts'
import { aClick, aWorldIn, anAd, readFigures } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const clicked = ['2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed']

interface Interruption {
  /** Which statement of the report is held up. */
  readonly before: RegExp
  /** What the engine writes meanwhile, on another replica. */
  readonly finalBefore?: string
  /** What the replica of the report fetches of it. */
  readonly fetched: WarehouseTable
}

/** The figures of a report that is held up while its day is sealed elsewhere. */
async function readHeldUp(t: TestContext, interruption: Interruption): Promise<readonly string[]> {
  const chances = { stale: 1, fetch: 0 }
  const { lagging, current, fetch } = await openLaggingWarehouse(t, {
    seed: 1,
    hasBarriers: true,
    chances,
  })
  const engine = aWorldIn(current)
  await engine.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  let heldCount = 0
  const heldUp: Warehouse = {
    ...lagging,
    rows: async (sql, params) => {
      if (interruption.before.test(sql) && (heldCount += 1) === 2) {
        await engine.settle()
        const { finalBefore } = interruption
        if (finalBefore !== undefined) {
          const boundary = `SELECT {finalBefore:Date}, 'final', now64(6)`
          await current.command(`INSERT INTO final_before ${boundary}`, { finalBefore })
        }
        await fetch([interruption.fetched])
      }
      return await lagging.rows(sql, params)
    },
  }
  // Its days are asked for twice; the second time is that of the report.
  const lines = await readFigures(heldUp, engine.markets)
  assert.ok(heldCount >= 2)
  return lines.map((line) => line.replace(/ open$/u, ' sealed'))
}

test('a seal that is fetched before its rows is read with its rows', async (t) => {
  const asked = { before: /FROM sealed_day\nWHERE day/u, fetched: 'sealed_day' } as const

  assert.deepEqual(await readHeldUp(t, asked), clicked)
})

test('a day that is known to be final before its seal is fetched is read by its seal', async (t) => {
  const asked = { before: /'final'/u, finalBefore: '2026-03-05', fetched: 'final_before' } as const

  assert.deepEqual(await readHeldUp(t, asked), clicked)
})
