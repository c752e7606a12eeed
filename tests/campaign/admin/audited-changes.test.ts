// What a record says of before and after.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { changesLengthMax, detailsLengthMax } from '../../../src/access/audit-details.ts'
import { changeLimits } from '../../../src/catalog/catalog-changes.ts'
import { anAsset } from '../../helpers/bundle.ts'
import { bundle, startAdmin, type AdminHarness } from './harness.ts'

let admin: AdminHarness

before(async () => {
  admin = await startAdmin()
  const { status } = await admin.call('PUT', '/admin/v1/catalog', bundle)
  assert.equal(status, 200)
})
after(() => admin.close())

async function lastDetails(): Promise<Record<string, unknown>> {
  const text = (await admin.audits()).at(-1)?.details ?? assert.fail('there is a record')
  return JSON.parse(text) as Record<string, unknown>
}

async function put(changes: object): Promise<Record<string, unknown>> {
  const { status, json } = await admin.call('PUT', '/admin/v1/catalog', changes)
  assert.equal(status, 200, JSON.stringify(json))
  return await lastDetails()
}

async function load(csv: string): Promise<Record<string, unknown>> {
  const { status } = await admin.call('PUT', '/admin/v1/rates', csv)
  assert.equal(status, 200)
  return await lastDetails()
}

async function attach(assetId: string): Promise<Record<string, unknown>> {
  const url = '/display/v2/advertisers/1/campaigns/1001/display/ad-groups/5003/assets'
  const { status, json } = await admin.call('POST', url, { creativeSizeId: 1, assetId })
  assert.equal(status, 201, JSON.stringify(json))
  return await lastDetails()
}

test('a record of the catalog says of each changed entry which fields were what, and counts the others', async () => {
  const details = await put({
    advertisers: [
      { id: 1, name: 'Acme AG' },
      { id: 2, name: 'Rival' },
      { id: 3, name: 'Newcomer' },
    ],
    campaigns: [{ id: 1002, advertiserId: 1, name: 'Past' }],
  })

  assert.deepEqual(details, {
    unchanged: 1,
    changes: [
      { kind: 'advertisers', id: 1, before: { name: 'Acme' }, after: { name: 'Acme AG' } },
      { kind: 'advertisers', id: 3, before: null, after: { name: 'Newcomer' } },
      { kind: 'campaigns', id: 1002, before: { active: false }, after: {} },
    ],
  })
})

test('a bundle that changes nothing says so', async () => {
  assert.deepEqual(await put({ publishers: bundle.publishers.slice(1) }), {
    unchanged: 1,
    changes: [],
  })
})

test('a bundle of very many entries makes a record of bounded length, publishers first, that counts what it leaves out', async () => {
  const campaigns = Array.from({ length: 20_000 }, (_, index) => ({
    id: 100_000 + index,
    advertiserId: 1,
    name: `Campaign ${index}`,
  }))
  const details = await put({
    campaigns,
    publishers: [{ ...bundle.publishers[1], name: 'Renamed' }],
  })
  const changes = details['changes'] as readonly { kind: string; id: number }[]

  assert.deepEqual(changes[0], {
    kind: 'publishers',
    id: 20,
    before: { name: 'Other' },
    after: { name: 'Renamed' },
  })
  assert.equal(changes.length + Number(details['changesLeftOut']), 20_001)
  assert.ok(changes.length > 50 && changes.length <= changeLimits.changesMax)
  const length = JSON.stringify(details).length
  assert.ok(length > changesLengthMax / 2 && length <= detailsLengthMax, String(length))
})

test('a field that is too long is named and left out, and the others are shown', async () => {
  const sites = Array.from({ length: 100 }, (_, index) => ({
    id: 1_000 + index,
    name: `Site ${index}`,
    type: 'DESKTOP',
    marketIds: [1],
  }))
  const details = await put({ publishers: [{ id: 10, name: 'Shop AG', sites }] })

  assert.deepEqual(details['changes'], [
    {
      kind: 'publishers',
      id: 10,
      before: { name: 'Shop' },
      after: { name: 'Shop AG' },
      leftOut: ['sites'],
    },
  ])
})

test('a record of rates says which rate was replaced by which, and counts the new ones', async () => {
  const first = await load('Date,USD,JPY\n2026-03-02,1.10,160\n2026-03-03,1.2,N/A\n')
  const again = await load('Date,USD,JPY\n2026-03-02,1.1,161.5\n2026-03-03,1.2,162\n')

  const days = { firstDay: '2026-03-02', lastDay: '2026-03-03' }
  assert.deepEqual(first, { ...days, added: 3, changes: [] })
  assert.deepEqual(again, {
    ...days,
    added: 1,
    changes: [{ currency: 'JPY', day: '2026-03-02', before: '160', after: '161.5' }],
  })
})

test('an asset that replaces another says which', async () => {
  const other = anAsset({ id: '3f2504e0-4f89-41d3-9a0c-0305e82c3309' })
  const asset = anAsset()
  await put({
    adGroups: [{ id: 5003, campaignId: 1001, name: 'Banners', type: 'DISPLAY' }],
    creativeSizes: [{ id: 1, name: 'Board', width: asset.width, height: asset.height }],
    assets: [asset, other],
  })
  await attach(asset.id)

  assert.deepEqual(await attach(other.id), {
    advertiserId: 1,
    before: { assetId: asset.id },
    after: { assetId: other.id },
  })
})

test('a key for very many advertisers has a bounded record that says so', async () => {
  const advertisers = Array.from({ length: 10_000 }, (_, index) => 1_000_000 + index)
  await admin.call('POST', '/admin/v1/keys', {
    name: 'Agency',
    advertisers,
    scopes: ['report:read'],
    expiresAt: '2027-01-01T00:00:00Z',
  })

  assert.deepEqual(await lastDetails(), {
    name: 'Agency',
    scopes: ['report:read'],
    publishers: [],
    expiresAt: '2027-01-01T00:00:00Z',
    advertisers: advertisers.slice(0, 100),
    leftOut: ['advertisers'],
  })
})
