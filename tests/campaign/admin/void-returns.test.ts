// Voids of deliveries of returns, and taking them back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Explanation } from '../../../src/contract/explanation.ts'
import { Attributor } from '../../../src/attribution/attribute.ts'
import { createHistoryLoader, createIds } from '../../helpers/history-warehouse.ts'
import type { HistoryDelivery, HistoryLine, HistoryReturn } from '../../helpers/history.ts'
import { aPurchase, anAd } from '../../helpers/seal-scenario.ts'
import { bundle, startAdmin, type AdminHarness } from './harness.ts'

const atMs = Date.UTC(2026, 2, 2, 12)
const ad = anAd({ servedAtMs: atMs - 7_200_000 })

let harness: AdminHarness
let loader: ReturnType<typeof createHistoryLoader>
before(async () => {
  harness = await startAdmin()
  loader = createHistoryLoader(harness.warehouse, 0)
  await harness.call('PUT', '/admin/v1/catalog', JSON.stringify(bundle))
})
after(() => harness.close())

async function attributeAll(): Promise<void> {
  const attributor = new Attributor({ warehouse: harness.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

const aLine = (changes: Partial<HistoryLine> = {}): HistoryLine => ({
  gtin: ad.gtin,
  groupId: '',
  brand: '',
  price: 10,
  quantity: 2,
  ...changes,
})

const nextId = createIds()

function aDelivery(changes: Partial<HistoryDelivery> = {}): HistoryDelivery {
  return { ...aPurchase({ atMs }), deliveryId: nextId(), ...changes }
}

const pathOf = (transactionId: string) =>
  `/admin/v1/conversions/10/${encodeURIComponent(transactionId)}`

async function explained(transactionId: string): Promise<Explanation> {
  const { status, json } = await harness.call('GET', pathOf(transactionId))
  assert.equal(status, 200, JSON.stringify(json))
  return json as Explanation
}

function aReturn(
  changes: Partial<HistoryReturn> & { readonly transactionId: string }
): HistoryReturn {
  return {
    deliveryId: nextId(),
    receivedAtMs: atMs + 1_000,
    publisherId: 10,
    returnId: 'R1',
    lines: [{ gtin: ad.gtin, quantity: 1 }],
    untrusted: false,
    ...changes,
  }
}

test('a void return takes nothing back, the next delivery of it does, and taking the void back restores both', async () => {
  const transactionId = 'return voided'
  const forged = aReturn({ transactionId, lines: [{ gtin: ad.gtin, quantity: 5 }] })
  const real = aReturn({ transactionId, receivedAtMs: atMs + 9_000 })
  await loader.ship([aDelivery({ transactionId, lines: [aLine({ quantity: 5 })] }), forged, real])
  await attributeAll()
  const body = JSON.stringify({ deliveryId: forged.deliveryId, reason: 'nobody sent it back' })
  const seen = async () => {
    const { lines, returns, isUpToDate } = await explained(transactionId)
    const standings = returns.map(({ standing }) => standing)
    return [lines[0]?.remainingQuantity, isUpToDate, ...standings]
  }
  const first = await seen()

  const voided = await harness.call('POST', `${pathOf(transactionId)}/void`, body)
  await attributeAll()
  const without = await seen()
  const restored = await harness.call('POST', `${pathOf(transactionId)}/unvoid`, body)
  await attributeAll()
  const last = await seen()
  const again = await harness.call('POST', `${pathOf(transactionId)}/unvoid`, body)

  assert.deepEqual(first, [0, true, 'counted', 'later'])
  assert.deepEqual([voided.status, voided.json['countedDeliveryId']], [200, real.deliveryId])
  assert.deepEqual(without, [4, true, 'void', 'counted'])
  assert.deepEqual([restored.status, restored.json['countedDeliveryId']], [200, forged.deliveryId])
  assert.deepEqual(last, first)
  assert.equal(again.status, 422, 'only what is void can be taken back')
  const actions = (await harness.audits()).filter(({ subject }) => subject === forged.deliveryId)
  assert.deepEqual(
    actions.map(({ action, details }) => [action, JSON.parse(details).returnId]),
    [
      ['delivery.void', forged.returnId],
      ['delivery.unvoid', forged.returnId],
    ]
  )
})

test('a return that was sent ahead of a purchase is voided before the purchase comes', async () => {
  const transactionId = 'sent ahead'
  const forged = aReturn({ transactionId, lines: [{ gtin: ad.gtin, quantity: 99 }] })
  await loader.ship([forged])
  const body = JSON.stringify({ deliveryId: forged.deliveryId, reason: 'sent ahead' })

  const voided = await harness.call('POST', `${pathOf(transactionId)}/void`, body)
  await loader.ship([aDelivery({ transactionId, lines: [aLine({ quantity: 2 })] })])
  await attributeAll()
  const done = await explained(transactionId)

  assert.deepEqual([voided.status, voided.json['countedDeliveryId']], [200, null])
  assert.deepEqual([done.lines[0]?.remainingQuantity, done.isUpToDate], [2, true])
})
