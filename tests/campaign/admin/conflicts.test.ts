import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ConflictPage } from '../../../src/contract/conflicts.ts'
import { createStatusReader } from '../../../src/ops/status.ts'
import type { HistoryDelivery, HistoryReturn } from '../../helpers/history.ts'
import {
  createHistoryLoader,
  createIds,
  type HistoryLoader,
} from '../../helpers/history-warehouse.ts'
import { aPurchase } from '../../helpers/seal-scenario.ts'
import { instantMs, warehouseNow } from '../../../src/warehouse/instant.ts'
import { adminKey, bearer, startAdmin, type AdminHarness } from './harness.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

let admin: AdminHarness
let loader: HistoryLoader
let nowMs: number
const nextId = createIds()

before(async () => {
  admin = await startAdmin()
  loader = createHistoryLoader(admin.warehouse, 0)
  nowMs = instantMs(await warehouseNow(admin.warehouse))
})
after(() => admin.close())

type PurchaseOptions = Partial<Parameters<typeof aPurchase>[0]>

function purchase(transactionId: string, options: PurchaseOptions = {}): HistoryDelivery {
  return aPurchase({ atMs: nowMs - hourMs, deliveryId: nextId(), transactionId, ...options })
}

function aReturn(transactionId: string, returnId: string, quantity: number): HistoryReturn {
  return {
    deliveryId: nextId(),
    returnId,
    receivedAtMs: nowMs - quantity * hourMs,
    publisherId: 10,
    transactionId,
    lines: [{ gtin: '4006381333931', quantity }],
    untrusted: false,
  }
}

async function list(query = ''): Promise<ConflictPage> {
  const url = `/admin/v1/conflicts${query}`
  const answer = await admin.app.inject({ url, headers: bearer(adminKey) })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<ConflictPage>()
}

async function countInStatus(): Promise<number | undefined> {
  const read = createStatusReader({
    version: '1',
    warehouseKind: 'embedded',
    warehouse: admin.warehouse,
    spool: { depth: () => ({ frames: 0, bytes: 0, oldestAtMs: null }) },
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
    clock: () => nowMs,
  })
  return (await read()).conflicts
}

const transactions = ({ conflicts }: ConflictPage) =>
  conflicts.map(({ transactionId }) => transactionId)

test('repeats with the same content, and what differs only from deliveries over 30 days ago, are no conflicts', async () => {
  await loader.ship([
    purchase('same'),
    purchase('same', { atMs: nowMs - 1_000 }),
    purchase('alone'),
    purchase('old', { atMs: nowMs - 40 * dayMs }),
    purchase('old', { atMs: nowMs - 39 * dayMs, price: 11 }),
    purchase('half-old', { atMs: nowMs - 40 * dayMs }),
    purchase('half-old', { price: 11 }),
    aReturn('same', 'r-same', 1),
    aReturn('same', 'r-same', 1),
  ])

  assert.deepEqual(await list(), { conflicts: [], total: 0 })
  assert.equal(await countInStatus(), 0)
})

test('a purchase with other content is listed once with its deliveries, from the first receipt to the last', async () => {
  const first = purchase('differs', { atMs: nowMs - 5 * hourMs })
  const last = purchase('differs', { atMs: nowMs - 4 * hourMs, price: 11 })
  await loader.ship([first, purchase('differs', { atMs: nowMs - 4.5 * hourMs }), last])
  // Shipped once more, as after a crash: still the same three deliveries.
  await loader.ship([last])

  assert.deepEqual(await list(), {
    conflicts: [
      {
        kind: 'purchase',
        publisherId: 10,
        transactionId: 'differs',
        deliveries: 3,
        voidDeliveries: 0,
        firstReceivedAt: new Date(first.receivedAtMs).toISOString(),
        lastReceivedAt: new Date(last.receivedAtMs).toISOString(),
      },
    ],
    total: 1,
  })
})

test('the same transaction id at another publisher is another purchase', async () => {
  const other = { ...purchase('differs', { price: 12 }), publisherId: 20 }
  await loader.ship([other])

  assert.deepEqual((await list()).total, 1)
})

test('a conflict stays when one of its deliveries is void, and tells so', async () => {
  const wrong = purchase('voided', { atMs: nowMs - 3 * hourMs, price: 99 })
  await loader.ship([wrong, purchase('voided', { atMs: nowMs - 2 * hourMs })])
  await loader.void([wrong, wrong])

  const { conflicts } = await list()
  const found = conflicts.find(({ transactionId }) => transactionId === 'voided')

  assert.deepEqual([found?.deliveries, found?.voidDeliveries], [2, 1])
})

test('a return with other content is listed under its own id, and another return of the purchase is none', async () => {
  await loader.ship([
    aReturn('returned', 'r-1', 1),
    aReturn('returned', 'r-1', 2),
    aReturn('returned', 'r-2', 1),
  ])

  const { conflicts, total } = await list()

  assert.equal(total, 3)
  assert.deepEqual(conflicts[0], {
    kind: 'return',
    publisherId: 10,
    transactionId: 'returned',
    returnId: 'r-1',
    deliveries: 2,
    voidDeliveries: 0,
    firstReceivedAt: new Date(nowMs - 2 * hourMs).toISOString(),
    lastReceivedAt: new Date(nowMs - hourMs).toISOString(),
  })
})

test('the newest come first, a limit cuts the list and not the total, and the status counts as many', async () => {
  const all = await list()

  assert.deepEqual(transactions(all), ['returned', 'voided', 'differs'])
  assert.deepEqual(await list('?limit=2'), { conflicts: all.conflicts.slice(0, 2), total: 3 })
  assert.equal(await countInStatus(), all.total)
})

test('a delivery from an untrusted source is a conflict like any other', async () => {
  const forged = { ...purchase('forged', { price: 1 }), untrusted: true }
  await loader.ship([purchase('forged'), forged])

  assert.ok(transactions(await list()).includes('forged'))
  assert.equal(await countInStatus(), 4)
})

for (const query of ['limit=0', 'limit=1001', 'limit=x', 'limit=1&limit=2']) {
  test(`the list of conflicts refuses ?${query}`, async () => {
    const url = `/admin/v1/conflicts?${query}`
    const answer = await admin.app.inject({ url, headers: bearer(adminKey) })

    assert.equal(answer.statusCode, 422)
    assert.match(answer.body, /limit must be/)
  })
}

test('a key without the scope reads no conflicts', async () => {
  const key = await admin.keyOf({ scopes: ['report:read', 'metrics:read'] })

  const answer = await admin.app.inject({ url: '/admin/v1/conflicts', headers: bearer(key) })

  assert.equal(answer.statusCode, 403)
})
