import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealBatch } from '../../src/days/seal.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import { createUnconvertedReader } from '../../src/reports/unconverted.ts'
import { aClick, aWorld, anAd } from '../helpers/seal-scenario.ts'

const atMs = Date.UTC(2026, 2, 2, 12)

test('amounts without a rate are found on a sealed day that is renewed and swept while it is read', async (t) => {
  const world = await aWorld(t)
  const { warehouse } = world
  await world.loader.ship([aClick(anAd({ servedAtMs: atMs, currency: 'USD' }), atMs)])
  await world.settle()
  let heldCount = 0
  const read = createUnconvertedReader({
    markets: () => world.markets,
    warehouse: {
      barrier: (tables) => warehouse.barrier(tables),
      rows: async (sql, params) => {
        if (sql.includes('FROM product_day AS d')) {
          heldCount += 1
          if (heldCount === 1) {
            await warehouse.command(
              `INSERT INTO touched_span SELECT '2026-03-02 12:00:00', '2026-03-02 12:59:59', 1, now64(6) + 300`
            )
            await sealBatch({
              warehouse,
              markets: () => world.markets,
              settledThroughMs: () => Date.UTC(2026, 2, 14),
              renewPauseMs: 0,
            })
            await new Sweeper({ warehouse, keepMs: 0 }).sweep()
            // As where the sweep came an hour after the day was sealed again.
            await warehouse.command('TRUNCATE TABLE touched_span')
          }
        }
        return await warehouse.rows(sql, params)
      },
    },
  })

  const question = { startDate: '2026-03-01', endDate: '2026-03-05', after: null, limit: 10 }
  const rows = await read(question)

  assert.equal(heldCount, 2)
  assert.deepEqual(
    rows.map(({ date, currency, clicks }) => [date, currency, clicks]),
    [['2026-03-02', 'USD', 1]]
  )
})
