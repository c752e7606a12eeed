import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { createStatusReader } from '../../src/ops/status.ts'
import type {
  ConversionLine,
  ConversionRecord,
  ReturnLine,
  ReturnRecord,
  SpoolRecord,
} from '../../src/spool/record.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import {
  aConversion,
  aLine,
  anEvent,
  append,
  aReturn,
  aShipment,
  counts,
  elsewhere,
  failing,
  mint,
  readAside,
  readPending,
  snapshot,
  withRemove,
  shipBatch,
} from '../helpers/shipment.ts'
import type { Shipment } from '../helpers/shipment.ts'
import { anAd } from '../tracking-data/builders.ts'
import { entriesOf } from '../helpers/spooled.ts'

const hourMs = 3_600_000
const gtin = '4006381333931'
const untrusted = { origin: elsewhere }
const loneSurrogate = '\ud800'

/** A click on the product of all lines here, so that each of them is credited. */
function aClick(): SpoolRecord {
  const { trackingData } = mint(anAd({ gtin, userId: 'user-1', userLoggedInId: '' }))
  return anEvent({ trackingData })
}

async function ship({ deps, spool }: Shipment, ...records: SpoolRecord[]): Promise<void> {
  await append(spool, records)
  await shipBatch(deps)
}

async function attribute(warehouse: Warehouse): Promise<number> {
  // The step asks for purchases shipped before it began reading; that instant must have passed.
  await sleep(2)
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  let attributedCount = 0
  for (;;) {
    const result = await attributor.attributeBatch()
    attributedCount += result.attributedCount
    if (!result.hasMore) return attributedCount
  }
}

function taking(quantity: number, changes: Partial<ReturnRecord>): ReturnRecord {
  return aReturn({ ...changes, lines: [{ gtin, quantity }] })
}

function bought(quantity: number, receivedAtMs: number): ConversionRecord {
  return aConversion({ receivedAtMs, lines: [aLine({ quantity, price: 1 })] })
}

/** What is credited of each line: `units for value`. */
async function remaining(warehouse: Warehouse, transactionId = 'T1'): Promise<readonly string[]> {
  const [row] = await warehouse.rows<{ lines: string[] }>(
    `SELECT arrayMap((q, v) -> concat(toString(q), ' for ', toString(v)), line_quantity, line_value) AS lines
     FROM attribution FINAL
     WHERE transaction_id = {transactionId:String} AND day = toDate(received_at)`,
    { transactionId }
  )
  return row?.lines ?? []
}

async function remainingOf(
  shipment: Shipment,
  { lines, returned }: { lines: readonly ConversionLine[]; returned: readonly ReturnLine[][] }
): Promise<readonly string[]> {
  const returns = returned.map((products, index) =>
    aReturn({ returnId: `R${index}`, lines: products })
  )
  await ship(shipment, aClick(), aConversion({ lines }), ...returns)
  await attribute(shipment.warehouse)
  return await remaining(shipment.warehouse)
}

const allocations: readonly {
  readonly law: string
  readonly lines: readonly ConversionLine[]
  readonly returned: readonly ReturnLine[][]
  readonly remaining: readonly string[]
}[] = [
  {
    law: 'a part of a line is taken back, with its part of the value',
    lines: [aLine({ quantity: 3, price: 19.99 })],
    returned: [[{ gtin, quantity: 1 }]],
    remaining: ['2 for 39.98'],
  },
  {
    law: 'several returns of a purchase add up, as the entries of one do, in any spelling',
    lines: [aLine({ quantity: 10, price: 1 })],
    returned: [
      [
        { gtin, quantity: 1 },
        { gtin: `0${gtin} `, quantity: 2 },
      ],
      [{ gtin: `\t${gtin}`, quantity: 3 }],
    ],
    remaining: ['4 for 4'],
  },
  {
    law: 'the lines of a product give up their units in order, each with its own price',
    lines: [
      aLine({ quantity: 2, price: 5 }),
      aLine({ gtin: `0${gtin}`, quantity: 3, price: 7 }),
      aLine({ quantity: 4, price: 11 }),
    ],
    returned: [[{ gtin, quantity: 4 }]],
    remaining: ['0 for 0', '1 for 7', '4 for 44'],
  },
  {
    law: 'never more is taken back than was bought, and the line stays credited with nothing',
    lines: [aLine({ quantity: 2 }), aLine({ gtin: `0${gtin}`, quantity: 1 })],
    returned: [
      [
        { gtin, quantity: 2_147_483_647 },
        { gtin, quantity: 2_147_483_647 },
      ],
      [{ gtin, quantity: 2_147_483_647 }],
    ],
    remaining: ['0 for 0', '0 for 0'],
  },
  {
    law: 'products that were not bought and empty ones take nothing',
    lines: [aLine({ quantity: 2, price: 1 })],
    returned: [
      [
        { gtin: `9${gtin.slice(1)}`, quantity: 1 },
        { gtin: '', quantity: 1 },
      ],
    ],
    remaining: ['2 for 2'],
  },
  {
    law: 'lines that are not valid give up nothing and keep nothing from those behind them',
    lines: [
      aLine({ quantity: -5, price: 1 }),
      aLine({ quantity: 0, price: 1 }),
      aLine({ quantity: 9, price: -1 }),
      aLine({ quantity: 3, price: 2 }),
    ],
    returned: [[{ gtin, quantity: 2 }]],
    remaining: ['1 for 2'],
  },
  {
    law: 'what remains of the greatest values and of the smallest is exact to the nano',
    lines: [
      aLine({ quantity: 2_000_000_000, price: 123.456789012 }),
      aLine({ gtin: `0${gtin}`, quantity: 3, price: 333_333_333_333.3333 }),
      aLine({ quantity: 2_147_483_647, price: 1e-9 }),
      aLine({ quantity: 3, price: 1.0000000015 }),
    ],
    returned: [[{ gtin, quantity: 1_999_999_999 }]],
    remaining: [
      '1 for 123.456789012',
      '3 for 999999999999.9999',
      '2147483647 for 2.147483647',
      '3 for 3.000000006',
    ],
  },
]

for (const { law, ...allocation } of allocations) {
  test(law, async (t) => {
    const shipment = await aShipment(t)

    const lines = await remainingOf(shipment, allocation)

    assert.deepEqual(lines, allocation.remaining)
  })
}

test('a purchase of 20,000 lines gives up a product spread over all of them', async (t) => {
  const shipment = await aShipment(t)
  const lines = Array.from({ length: 20_000 }, () => aLine({ quantity: 2, price: 1 }))

  const left = await remainingOf(shipment, { lines, returned: [[{ gtin, quantity: 39_999 }]] })

  assert.equal(left.length, 20_000)
  assert.equal(left.filter((line) => line === '0 for 0').length, 19_999)
  assert.equal(left.at(-1), '1 for 1')
})

test('a return counts whether it is shipped before its purchase, with it, or after its attribution', async (t) => {
  const shipment = await aShipment(t)
  const purchases = ['before', 'with', 'after'].map((transactionId) =>
    aConversion({ transactionId, lines: [aLine({ quantity: 2, price: 3 })] })
  )
  const [before, beside, after] = ['before', 'with', 'after'].map((transactionId) =>
    aReturn({ transactionId })
  )
  assert.ok(before !== undefined && beside !== undefined && after !== undefined)

  await ship(shipment, before)
  assert.equal(await attribute(shipment.warehouse), 0, 'it makes nothing pending for ever')
  await ship(shipment, aClick(), beside, ...purchases)
  await attribute(shipment.warehouse)
  assert.deepEqual(await remaining(shipment.warehouse, 'after'), ['2 for 6'])
  await ship(shipment, after)
  assert.equal(await attribute(shipment.warehouse), 1, 'only its purchase is attributed again')

  for (const transactionId of ['before', 'with', 'after']) {
    assert.deepEqual(await remaining(shipment.warehouse, transactionId), ['1 for 3'])
  }
  assert.equal(await attribute(shipment.warehouse), 0)
})

test('of the deliveries of a return the earliest from a trusted source counts, whatever the order', async (t) => {
  const shipment = await aShipment(t)
  const { receivedAtMs } = aReturn()
  await ship(shipment, aClick(), aConversion({ lines: [aLine({ quantity: 9, price: 1 })] }))

  await ship(shipment, taking(3, { receivedAtMs: receivedAtMs + 1 }))
  await attribute(shipment.warehouse)
  const late = await remaining(shipment.warehouse)
  await ship(shipment, taking(2, { receivedAtMs }))
  await attribute(shipment.warehouse)
  const earliest = await remaining(shipment.warehouse)
  await ship(
    shipment,
    taking(4, { receivedAtMs: receivedAtMs - 1, ...untrusted }),
    taking(5, { receivedAtMs: receivedAtMs + hourMs })
  )
  await attribute(shipment.warehouse)

  assert.deepEqual([late, earliest], [['6 for 6'], ['7 for 7']])
  assert.deepEqual(await remaining(shipment.warehouse), ['7 for 7'])
  const [row] = await shipment.warehouse.rows<{ n: number }>(
    'SELECT count() AS n FROM purchase_return FINAL'
  )
  assert.equal(row?.n, 4, 'every delivery is kept')
})

test('a return from an untrusted source is kept, takes nothing back and makes nothing pending', async (t) => {
  const shipment = await aShipment(t)
  await ship(shipment, aClick(), aConversion())
  await attribute(shipment.warehouse)
  const pending = await readPending(shipment.warehouse)

  await ship(shipment, aReturn(untrusted))

  assert.deepEqual(await readPending(shipment.warehouse), pending)
  const verdicts = await shipment.warehouse.rows(
    'SELECT toString(verdict) AS v FROM purchase_return'
  )
  assert.deepEqual(verdicts, [{ v: 'untrusted-source' }])
})

test('a return of another publisher, or of a transaction in another case, takes nothing back', async (t) => {
  const shipment = await aShipment(t)

  await ship(
    shipment,
    aClick(),
    aConversion(),
    aReturn({ publisherId: 11 }),
    aReturn({ transactionId: 't1' }),
    aReturn({ transactionId: 'T1 ' })
  )
  await attribute(shipment.warehouse)

  assert.deepEqual(await remaining(shipment.warehouse), ['1 for 19.99'])
})

test('when an earlier delivery becomes the purchase, the return takes from its lines', async (t) => {
  const shipment = await aShipment(t)
  const { receivedAtMs } = aConversion()
  await ship(shipment, aClick(), bought(9, receivedAtMs), aReturn())
  await attribute(shipment.warehouse)

  await ship(shipment, bought(5, receivedAtMs - 1))
  await attribute(shipment.warehouse)

  assert.deepEqual(await remaining(shipment.warehouse), ['4 for 4'])
})

test('a batch with returns that is shipped again after a crash before its removal counts once', async (t) => {
  const shipment = await aShipment(t)
  const { deps, spool, warehouse } = shipment
  const purchase = aConversion({ lines: [aLine({ quantity: 5, price: 1 })] })
  await append(spool, [aClick(), purchase, aReturn(), aReturn({ returnId: loneSurrogate })])
  const crashing = withRemove(spool, () => Promise.reject(new Error('crash')))

  await assert.rejects(shipBatch({ ...deps, spool: crashing }), /crash/u)
  const once = await snapshot(warehouse)
  const result = await shipBatch(deps)
  await attribute(warehouse)

  assert.deepEqual(result, { shippedCount: 4, setAsideCount: 1, contradictions: [] })
  assert.deepEqual(await snapshot(warehouse), once)
  assert.deepEqual(await remaining(warehouse), ['4 for 4'])
  const [aside] = await readAside(warehouse)
  assert.match(aside?.record ?? '', /"type":"return"/)
})

// The second is the statement that makes purchases pending: a crash between it and the insert.
for (const statement of ['purchase_return_in', 'returned_purchase']) {
  test(`a return whose shipping stops at ${statement} stays in the spool and counts after the next try`, async (t) => {
    const shipment = await aShipment(t)
    const { deps, spool, warehouse } = shipment
    await ship(shipment, aClick(), aConversion({ lines: [aLine({ quantity: 2, price: 1 })] }))
    await attribute(warehouse)
    await append(spool, [aReturn()])
    const broken = failing(warehouse, (sql) => sql.includes(statement))

    await assert.rejects(shipBatch({ ...deps, warehouse: broken }), {
      code: 'WAREHOUSE_UNAVAILABLE',
    })
    assert.equal(await attribute(warehouse), 0)
    assert.equal(entriesOf(spool.read(10)).length, 1)
    await shipBatch(deps)
    await attribute(warehouse)

    assert.deepEqual(await remaining(warehouse), ['1 for 1'])
    assert.deepEqual((await counts(warehouse)).aside, 0)
  })
}

// With a settling time of nothing every delivery is a slow one.
test('an attribution that began before a return and ends after the next one changes nothing', async (t) => {
  const shipment = await aShipment(t)
  const { warehouse } = shipment
  await ship(shipment, aClick(), aConversion({ lines: [aLine({ quantity: 2, price: 1 })] }))
  await attribute(warehouse)
  const [old] = await warehouse.rows<{ readAt: string }>(
    'SELECT toString(max(read_at)) AS readAt FROM attribution'
  )
  await ship(shipment, aReturn())
  await attribute(warehouse)

  // Written once more, as another engine would that was slow.
  await warehouse.command(
    'INSERT INTO attribution SELECT * FROM attribution WHERE read_at = {readAt:DateTime64(6)}',
    { readAt: old?.readAt ?? '' }
  )

  assert.deepEqual(await remaining(warehouse), ['1 for 1'])
})

test('two engines that attribute a returned purchase at once give the figures of one', async (t) => {
  const shipment = await aShipment(t)
  await ship(
    shipment,
    aClick(),
    aConversion({ lines: [aLine({ quantity: 2, price: 1 })] }),
    aReturn()
  )

  await Promise.all([attribute(shipment.warehouse), attribute(shipment.warehouse)])

  assert.deepEqual(await remaining(shipment.warehouse), ['1 for 1'])
})

test('a return on a final day is too late, and one of a purchase on a final day makes nothing pending', async (t) => {
  const { deps, ...others } = await aShipment(t)
  // Shipped as if within the settling time, however slow the machine is: nothing is announced twice.
  const shipment = { ...others, deps: { ...deps, settleMs: 3_600_000 } }
  const { warehouse } = shipment
  const { receivedAtMs } = aConversion()
  const purchaseDay = new Date(receivedAtMs).toISOString().slice(0, 10)
  await ship(shipment, aClick(), aConversion())
  await attribute(warehouse)
  const announce = async (days: number) =>
    await warehouse.command(
      `INSERT INTO final_before SELECT toDate({purchaseDay:String}) + {days:Int32}, 'announced', now64(6)`,
      { purchaseDay, days }
    )

  // Zones ahead of UTC: the UTC day before the boundary is in part not final.
  await announce(1)
  await ship(shipment, aReturn({ receivedAtMs: receivedAtMs + 48 * hourMs }))
  const onTheEdge = await readPending(warehouse)
  await announce(2)
  await ship(shipment, aReturn({ receivedAtMs: receivedAtMs + 48 * hourMs, returnId: 'R2' }))
  await ship(shipment, aReturn({ returnId: 'R3' }))

  assert.deepEqual(onTheEdge, [{ transaction: 'T1', n: 2 }])
  assert.deepEqual(await readPending(warehouse), onTheEdge)
  const verdicts = await warehouse.rows(
    'SELECT return_id AS id, toString(verdict) AS verdict FROM purchase_return ORDER BY id'
  )
  assert.deepEqual(verdicts, [
    { id: 'R1', verdict: 'valid' },
    { id: 'R2', verdict: 'valid' },
    { id: 'R3', verdict: 'too-late' },
  ])
})

test('a repeat of a return is a conflict in status if it says something else, and only then', async (t) => {
  const shipment = await aShipment(t)
  const receivedAtMs = Date.now()
  const status = createStatusReader({
    version: '0',
    warehouseKind: 'embedded',
    warehouse: shipment.warehouse,
    spool: shipment.spool,
    nodes: () => null,
    believeEverybody: () => ({ publishers: [], total: 0 }),
    waitingDays: () => Promise.resolve({ unsealed: 0, renewing: 0 }),
    attribution: () => ({ lagMs: 0, settledThrough: null }),
    sealedThrough: () => Promise.resolve([]),
    retention: () => Promise.resolve({ days: 400, finalBefore: null, waitsForDay: null }),
    contradictions: () => Promise.resolve([]),
    advertiserOfCampaign: () => null,
    clockOffsetMs: () => null,
    failing: () => [],
    alerts: () => [],
    clock: Date.now,
  })
  await ship(shipment, aReturn({ receivedAtMs }), aReturn({ receivedAtMs: receivedAtMs + 1 }))
  const same = await status()

  const lines = [{ gtin, quantity: 2 }]
  await ship(shipment, aReturn({ receivedAtMs, lines }), aReturn({ receivedAtMs, ...untrusted }))
  await ship(shipment, aConversion({ receivedAtMs, ...untrusted }))
  const other = await status()

  assert.deepEqual([same.conflicts, same.uncounted], [0, {}])
  assert.deepEqual([other.conflicts, other.uncounted], [1, { 'untrusted-source': 2 }])
})
