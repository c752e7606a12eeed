// A process is suspended between an instant and its effect; those of other nodes go on and look past it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aConversion, anEvent, append, aReturn, aShipment, shipBatch } from '../helpers/shipment.ts'
import { suspendable } from '../helpers/suspended-warehouse.ts'

const minuteMs = 60_000
const berlin = { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }

async function aNodeAndAnEngine(t: TestContext) {
  const { deps, spool, warehouse: inner } = await aShipment(t)
  const { warehouse, suspend, pass } = suspendable(inner)
  const settleMs = 2_000
  const attributor = new Attributor({ warehouse, settleMs })
  const attribute = async (): Promise<void> => {
    pass(settleMs + 1)
    while ((await attributor.attributeBatch()).hasMore);
  }
  const sealing = {
    warehouse,
    markets: () => [berlin],
    settledThroughMs: () => Number.MAX_SAFE_INTEGER,
    renewPauseMs: 0,
  }
  return {
    inner,
    suspend,
    pass,
    attribute,
    append: async (...records: Parameters<typeof append>[1]) => await append(spool, records),
    /** By the node that only ships. */
    ship: async () => await shipBatch({ ...deps, warehouse }),
    seal: async (): Promise<number> => (await sealBatch(sealing)).sealedCount,
  }
}

async function creditedLines(warehouse: Warehouse): Promise<number | undefined> {
  const [row] = await warehouse.rows<{ n: number }>(
    'SELECT sum(length(line_index)) AS n FROM attribution FINAL'
  )
  return row?.n
}

for (const minutes of [1, 61, 3 * 24 * 60]) {
  test(`a purchase of a node that only ships and was suspended for ${minutes} minutes is attributed`, async (t) => {
    const { inner, suspend, append: add, ship, attribute } = await aNodeAndAnEngine(t)
    await add(anEvent({ receivedAtMs: Date.UTC(2026, 2, 2, 11) }), aConversion())
    suspend('delivery_in', minutes * minuteMs, attribute)

    await ship()
    await attribute()

    assert.equal(await creditedLines(inner), 1)
  })
}

test('announcing anew may be suspended too: it is looked at again until it was quick', async (t) => {
  const { inner, suspend, append: add, ship, attribute } = await aNodeAndAnEngine(t)
  await add(anEvent(), aConversion())
  suspend('delivery_in', 61 * minuteMs, async () => {
    await attribute()
    suspend('INSERT INTO pending_purchase', 61 * minuteMs, attribute)
  })

  await ship()
  await attribute()

  assert.equal(await creditedLines(inner), 1)
})

for (const [what, before] of [
  ['a late touchpoint', 'INSERT INTO pending_purchase'],
  ['a return', 'INSERT INTO pending_purchase'],
] as const) {
  test(`what ${what} changes is attributed again, though its node was suspended while it said so`, async (t) => {
    const { inner, suspend, append: add, ship, attribute } = await aNodeAndAnEngine(t)
    const isReturn = what === 'a return'
    await add(...(isReturn ? [anEvent()] : []), aConversion())
    await ship()
    await attribute()
    const sold = await unitsSold(inner)
    await add(isReturn ? aReturn() : anEvent())
    suspend(before, 61 * minuteMs, attribute)

    await ship()
    await attribute()

    assert.deepEqual([sold, await unitsSold(inner)], isReturn ? [1, 0] : [0, 1])
  })
}

async function unitsSold(warehouse: Warehouse): Promise<number | undefined> {
  const [row] = await warehouse.rows<{ n: number }>(
    'SELECT sum(arraySum(line_quantity)) AS n FROM attribution FINAL'
  )
  return row?.n
}

for (const minutes of [6, 61]) {
  test(`an event of a node that was suspended for ${minutes} minutes is in the report of a day that was sealed meanwhile`, async (t) => {
    const { inner, suspend, append: add, ship, seal } = await aNodeAndAnEngine(t)
    await add(anEvent())
    await ship()
    await add(anEvent())
    suspend('ad_event_in', minutes * minuteMs, async () => {
      while ((await seal()) > 0 && (await clicksSealed(inner)) === 0);
    })

    await ship()

    assert.equal(await clicksSealed(inner), 1)
    await seal()
    assert.equal(await clicksSealed(inner), 2)
  })
}

test('an attribution that was suspended is in the report of a day that was sealed meanwhile', async (t) => {
  const world = await aNodeAndAnEngine(t)
  const { inner, suspend, pass, seal } = world
  await world.append(anEvent(), aConversion())
  await world.ship()
  suspend('INSERT INTO attribution', 10 * minuteMs, async () => {
    while ((await seal()) > 0 && (await clicksSealed(inner)) === 0);
  })

  await world.attribute()

  assert.equal(await conversionsSealed(inner), 0)
  pass(minuteMs)
  await seal()
  assert.equal(await conversionsSealed(inner), 1)
})

test('when the clock of the warehouse is set back, what is shipped from then on is attributed', async (t) => {
  const { inner, pass, append: add, ship, attribute } = await aNodeAndAnEngine(t)
  pass(120 * minuteMs)
  await add(anEvent(), aConversion())
  await ship()
  pass(minuteMs)
  await attribute()
  await attribute()
  pass(-90 * minuteMs)
  await add(aConversion({ transactionId: 'T2' }))

  await ship()
  await attribute()

  assert.equal(await creditedLines(inner), 2)
})

// Its clock was 30 s ahead; the click came to another node, whose clock is right, before the purchase.
test('a purchase is not read before its own receipt has settled, whatever the clock of its node', async (t) => {
  const { inner, pass, append: add, ship, attribute } = await aNodeAndAnEngine(t)
  const nowMs = Date.now()
  await add(aConversion({ receivedAtMs: nowMs + 30_000 }))
  await ship()

  await attribute()

  const sql = 'SELECT count() AS n FROM attribution'
  assert.deepEqual(await inner.rows(sql), [{ n: 0 }])
  pass(30_000)
  await attribute()
  assert.deepEqual(await inner.rows(sql), [{ n: 1 }])
})

async function clicksSealed(warehouse: Warehouse): Promise<number> {
  return (await readSealed(warehouse)).clicks
}

async function conversionsSealed(warehouse: Warehouse): Promise<number> {
  return (await readSealed(warehouse)).conversions
}

async function readSealed(warehouse: Warehouse): Promise<{ clicks: number; conversions: number }> {
  const [row] = await warehouse.rows<{ clicks: number; conversions: number }>(
    `SELECT toUInt32(sum(clicks)) AS clicks, toUInt32(sum(click_conversions)) AS conversions
     FROM product_day WHERE (unit, day, revision) IN (
       SELECT unit, day, argMax(revision, read_at) FROM sealed_day GROUP BY unit, day
     )`
  )
  return row ?? { clicks: 0, conversions: 0 }
}
