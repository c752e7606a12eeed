// Days are sealed, and become final, up to the instant before which all is attributed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { ServiceError } from '../../src/errors.ts'
import { instantMs, warehouseNow } from '../../src/warehouse/instant.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aConversion, anEvent, append, aShipment, mint, shipBatch } from '../helpers/shipment.ts'
import { suspendable } from '../helpers/suspended-warehouse.ts'
import { anAd } from '../tracking-data/builders.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const utc = { id: 1, code: 'XX', currency: 'EUR', timeZone: 'UTC' }

/** Attributions fail as if the warehouse were away while `isAway` says so of their range. */
function awayFor(inner: Warehouse, isAway: (params: object) => boolean): Warehouse {
  return {
    ...inner,
    command: async (sql, params = {}) => {
      if (sql.includes('INSERT INTO attribution') && isAway(params)) {
        throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'away')
      }
      await inner.command(sql, params)
    },
  }
}

/** It is the next noon; each shipment is a batch of its own. */
async function aNoon(t: TestContext) {
  const { deps, spool, warehouse: inner } = await aShipment(t)
  const { warehouse, pass } = suspendable(inner)
  const noonMs = Math.ceil((Date.now() - 12 * hourMs) / dayMs) * dayMs + 12 * hourMs
  pass(noonMs - Date.now())
  const failing = { isAway: (_params: object): boolean => false }
  const attributor = new Attributor({
    warehouse: awayFor(warehouse, (params) => failing.isAway(params)),
    settleMs: 0,
    purchasesMax: 1,
  })
  const ship = async (...transactionIds: string[]): Promise<string> => {
    const receivedAtMs = instantMs(await warehouseNow(warehouse)) - 60_000
    const ad = anAd({ servedAtMs: receivedAtMs - hourMs })
    const { trackingData } = mint(ad)
    await append(spool, [
      anEvent({ receivedAtMs: receivedAtMs - 1, trackingData }),
      ...transactionIds.map((transactionId) => aConversion({ transactionId, receivedAtMs })),
    ])
    await shipBatch({ ...deps, settleMs: 0, warehouse })
    return await warehouseNow(warehouse)
  }
  const seal = async (): Promise<number> =>
    (
      await sealBatch({
        warehouse,
        markets: () => [utc],
        settledThroughMs: () => instantMs(attributor.settledThrough() ?? '1970-01-01 00:00:00'),
        renewPauseMs: 0,
      })
    ).sealedCount
  return { warehouse, pass, failing, attributor, ship, seal }
}

test('a day is sealed while attribution is busy without end with purchases shipped after it', async (t) => {
  const { attributor, pass, ship, seal } = await aNoon(t)
  await ship('T0')
  pass(dayMs)
  await ship('N0', 'M0')

  let sealedCount = 0
  for (let round = 1; round <= 4; round += 1) {
    const { hasMore } = await attributor.attributeBatch()
    await ship(`N${round}`, `M${round}`)
    assert.equal(hasMore, true, 'attribution never comes to rest')
    sealedCount += await seal()
  }

  assert.ok(sealedCount > 0)
})

test('a day is not sealed while a purchase shipped before its end is due, though newer ones are attributed', async (t) => {
  const { attributor, pass, failing, ship, seal } = await aNoon(t)
  const shippedBy = await ship('T0')
  pass(dayMs)
  await ship('N0')
  failing.isAway = (params) => String(Reflect.get(params, 'from')) <= shippedBy

  let attributedCount = 0
  for (let round = 1; round <= 4; round += 1) {
    const result = await attributor.attributeBatch().catch(() => null)
    attributedCount += result?.attributedCount ?? 0
    await ship(`N${round}`)
    assert.equal(await seal(), 0)
  }

  assert.ok(attributedCount > 0)
  failing.isAway = () => false
  while ((await attributor.attributeBatch()).hasMore);
  assert.ok((await seal()) > 0)
})
