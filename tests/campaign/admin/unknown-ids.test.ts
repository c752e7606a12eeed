import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { unknownIdsMax, type UnknownIds } from '../../../src/contract/unknown-ids.ts'
import { createNamedIdsReader } from '../../../src/reports/named-ids.ts'
import {
  createHistoryLoader,
  createIds,
  type HistoryLoader,
} from '../../helpers/history-warehouse.ts'
import type { HistoryAd, HistoryEvent } from '../../helpers/history.ts'
import { aClick, anAd, aPurchase } from '../../helpers/seal-scenario.ts'
import { instantMs, warehouseNow } from '../../../src/warehouse/instant.ts'
import { adminKey, bearer, bundle, startAdmin, type AdminHarness } from './harness.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

let admin: AdminHarness
let loader: HistoryLoader
let atMs: number
const nextId = createIds()

before(async () => {
  admin = await startAdmin()
  loader = createHistoryLoader(admin.warehouse, 0)
  atMs = instantMs(await warehouseNow(admin.warehouse)) - hourMs
  await putCatalog(bundle)
})
after(() => admin.close())

async function putCatalog(entries: object): Promise<void> {
  const answer = await admin.app.inject({
    method: 'PUT',
    url: '/admin/v1/catalog',
    headers: bearer(adminKey),
    payload: JSON.stringify(entries),
  })
  assert.equal(answer.statusCode, 200, answer.body)
}

function click(changes: Partial<HistoryAd> = {}): HistoryEvent {
  const servedAtMs = changes.servedAtMs ?? atMs
  return aClick(anAd({ ...changes, servedAdId: nextId(), servedAtMs }), servedAtMs)
}

function purchase(changes: { readonly publisherId?: number; readonly siteId?: number } = {}) {
  const deliveryId = nextId()
  return { ...aPurchase({ atMs, deliveryId, transactionId: deliveryId }), ...changes }
}

async function list(): Promise<UnknownIds> {
  const answer = await admin.app.inject({
    url: '/admin/v1/unknown-ids',
    headers: bearer(adminKey),
  })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<UnknownIds>()
}

const print = ({ ids }: UnknownIds) =>
  ids.map(({ kind, id, parentId, events, conversions }) => {
    const place = parentId === undefined ? '' : ` of ${parentId}`
    return `${kind} ${id}${place}: ${events}${conversions === undefined ? '' : `/${conversions}`}`
  })

test('ids that the catalog has, inactive or not, and ids named over 30 days ago are not listed', async () => {
  await loader.ship([
    click(),
    click({ marketId: 2, campaignId: 1002, adGroupId: 5002 }),
    purchase(),
    click({ servedAtMs: atMs - 40 * dayMs, marketId: 77, advertiserId: 77, siteId: 77 }),
  ])

  assert.deepEqual(await list(), { ids: [], total: 0, complete: true })
})

test('each unknown id is listed under what it belongs to, with the events and conversions that name it, most first', async () => {
  const unknownAd = { advertiserId: 9, campaignId: 9001, adGroupId: 90001 }
  await loader.ship([
    click(unknownAd),
    click({ ...unknownAd, adGroupId: 90002 }),
    click({ ...unknownAd, marketId: 9 }),
    click({ siteId: 102 }),
    purchase({ siteId: 102 }),
    purchase({ publisherId: 99, siteId: 1 }),
  ])

  assert.deepEqual(print(await list()), [
    'advertiser 9: 3',
    'campaign 9001 of 9: 3',
    'site 102 of 10: 1/1',
    'ad-group 90001 of 9001: 2',
    'market 9: 1',
    'publisher 99: 0/1',
    'site 1 of 99: 0/1',
    'ad-group 90002 of 9001: 1',
  ])
})

test('a site that another publisher has is unknown where it is named under the wrong one', async () => {
  await loader.ship([click({ siteId: 201 })])

  assert.ok(print(await list()).includes('site 201 of 10: 1/0'))
})

test('the id 0 is an id like any other', async () => {
  await loader.ship([click({ adGroupId: 0 }), purchase({ siteId: 0 })])

  const printed = print(await list())

  assert.ok(printed.includes('ad-group 0 of 1001: 1'), String(printed))
  assert.ok(printed.includes('site 0 of 10: 0/1'), String(printed))
})

test('an id leaves the list once the catalog has it', async () => {
  await putCatalog({
    markets: [{ id: 9, code: 'AT', currency: 'EUR', timeZone: 'Europe/Vienna' }],
    advertisers: [{ id: 9, name: 'Late' }],
    campaigns: [{ id: 9001, advertiserId: 9, name: 'Late' }],
    adGroups: [{ id: 90001, campaignId: 9001, name: 'Late', type: 'SPA' }],
  })

  const kinds = (await list()).ids.map(({ kind, id }) => `${kind} ${id}`)

  assert.deepEqual(
    kinds.filter((name) => /market|advertiser|campaign|ad-group/.test(name)).toSorted(),
    ['ad-group 0', 'ad-group 90002']
  )
})

test('more ids than are listed are counted, and those that are named most are listed', async () => {
  const totalBefore = (await list()).total
  const many = Array.from({ length: unknownIdsMax + 5 }, (_, index) =>
    purchase({ siteId: 100_000 + index })
  )
  await loader.ship([...many, purchase({ siteId: 100_000 + unknownIdsMax })])

  const { ids, total, complete } = await list()

  assert.equal(ids.length, unknownIdsMax)
  assert.equal(total, totalBefore + unknownIdsMax + 5)
  assert.equal(complete, true)
  assert.ok(ids.some(({ id }) => id === 100_000 + unknownIdsMax))
})

test('more combinations of ids than are looked at make the list incomplete, and it says so', async () => {
  const { places, senders, isComplete } = await createNamedIdsReader(admin.warehouse, 2)()

  assert.equal(isComplete, false)
  assert.deepEqual([places.length, senders.length], [2, 2])
  assert.equal(places[0]?.siteId, 101)
})

test('a key without the scope reads no ids', async () => {
  const key = await admin.keyOf({ scopes: ['report:read', 'intake:read'] })

  const answer = await admin.app.inject({ url: '/admin/v1/unknown-ids', headers: bearer(key) })

  assert.equal(answer.statusCode, 403)
})
