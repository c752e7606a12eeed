import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CatalogBundle } from '../../../src/contract/catalog-bundle.ts'
import {
  adminKey,
  bearer,
  bundle,
  nowMs,
  startAdmin,
  status,
  type AdminHarness,
} from './harness.ts'

let admin: AdminHarness

before(async () => {
  admin = await startAdmin()
})
after(() => admin.close())

function put(payload: object | string, key = adminKey) {
  return { method: 'PUT', url: '/admin/v1/catalog', headers: bearer(key), payload } as const
}

function postKey(payload: object | string, key = adminKey) {
  return { method: 'POST', url: '/admin/v1/keys', headers: bearer(key), payload } as const
}

function listKeys(key = adminKey) {
  return { method: 'GET', url: '/admin/v1/keys', headers: bearer(key) } as const
}

function revoke(id: string, key = adminKey) {
  return { method: 'DELETE', url: `/admin/v1/keys/${id}`, headers: bearer(key) } as const
}

test('a bundle is taken and can be read and put again', async () => {
  const first = await admin.app.inject(put(bundle))
  const read = await admin.app.inject({ url: '/admin/v1/catalog', headers: bearer(adminKey) })
  const again = await admin.app.inject(put(read.body))

  assert.equal(first.statusCode, 200, first.body)
  assert.deepEqual(first.json(), { entries: 12, products: 0 })
  assert.deepEqual(read.json<CatalogBundle>().adGroups, bundle.adGroups)
  assert.deepEqual(again.json(), first.json())
})

test('a bundle with faults is refused whole, and every fault is told', async () => {
  const response = await admin.app.inject(
    put({
      advertisers: [{ id: 50, name: 'New' }],
      campaigns: [
        { id: 1, advertiserId: 99, name: 'x' },
        { id: 1001, advertiserId: 2, name: 'x' },
      ],
    })
  )

  assert.equal(response.statusCode, 422)
  assert.deepEqual(response.json(), {
    messages: [
      '/campaigns/0/advertiserId 99 is no known advertiser',
      '/campaigns/1/advertiserId must stay 1: it never changes',
    ],
  })
  assert.equal(admin.catalog.current().advertisers.has(50), false)
})

test('a dry run of a bundle tells the same faults and counts, and changes nothing', async () => {
  const dryRun = (payload: object) => ({ ...put(payload), url: '/admin/v1/catalog?dryRun=true' })
  const snapshot = admin.catalog.current()
  const audits = await admin.audits()
  const products = [{ marketId: 1, gtin: 'dry', title: 'Dry' }]

  const good = await admin.app.inject(dryRun({ advertisers: [{ id: 51, name: 'x' }], products }))
  const bad = await admin.app.inject(
    dryRun({ campaigns: [{ id: 1, advertiserId: 99, name: 'x' }] })
  )
  const odd = await admin.app.inject({ ...put({}), url: '/admin/v1/catalog?dryRun=yes' })

  assert.deepEqual(good.json(), { entries: 1, products: 1, dryRun: true })
  assert.deepEqual(
    [bad.statusCode, bad.json()],
    [422, { messages: ['/campaigns/0/advertiserId 99 is no known advertiser'] }]
  )
  assert.deepEqual(
    [odd.statusCode, odd.json()],
    [422, { messages: ['dryRun must be true or false'] }]
  )
  assert.equal(admin.catalog.current(), snapshot)
  assert.deepEqual(await admin.audits(), audits)
  const found = await admin.warehouse.rows("SELECT 1 FROM product WHERE gtin = 'dry' LIMIT 1")
  assert.deepEqual(found, [])
})

test('one kind of entries is read page by page, assignments too', async () => {
  const read = async (path: string) => {
    const url = `/admin/v1/catalog/${path}`
    const response = await admin.app.inject({ url, headers: bearer(adminKey) })
    return { status: response.statusCode, body: response.json<unknown>() }
  }
  const assetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
  await admin.catalog.attach({ adGroupId: 5001, creativeSizeId: 7, assetId })

  assert.deepEqual(await read('ad-groups?limit=2&after=5001'), {
    status: 200,
    body: { entries: bundle.adGroups.slice(1), next: null },
  })
  assert.deepEqual(await read('advertisers?limit=1'), {
    status: 200,
    body: { entries: bundle.advertisers.slice(0, 1), next: '1' },
  })
  assert.deepEqual((await read('assignments?after=5001%2F6')).body, {
    entries: [{ adGroupId: 5001, creativeSizeId: 7, assetId }],
    next: null,
  })
  assert.equal((await read('keys')).status, 404)
  for (const query of ['?after=x', '?after=', '?limit=0', '?limit=1001', '?after=1&after=2']) {
    assert.equal((await read(`markets${query}`)).status, 422, query)
  }
})

test('a body that is no bundle is refused with the rule it breaks', async () => {
  for (const payload of ['', '{', '[]', { markets: {} }, { advertisers: [{ id: 0, name: '' }] }]) {
    const response = await admin.app.inject(put(payload))
    assert.equal(response.statusCode, 422, JSON.stringify(payload))
  }
})

test('a key is shown once, works, and is listed without itself', async () => {
  const request = { name: 'reader', advertisers: [1], scopes: ['metrics:read'] }
  const created = await admin.app.inject(postKey({ ...request, expiresAt: '2027-01-01T00:00:00Z' }))
  const { id, key } = created.json<{ id: string; key: string }>()

  const listed = await admin.app.inject(listKeys())

  assert.equal(created.statusCode, 201)
  assert.equal((await admin.app.inject({ url: '/metrics', headers: bearer(key) })).statusCode, 200)
  assert.ok(!listed.body.includes(key))
  const found = listed.json<{ keys: { id: string }[] }>().keys.find((entry) => entry.id === id)
  assert.deepEqual(found, {
    ...request,
    publishers: [],
    id,
    createdAt: '2026-03-02T10:00:00.000Z',
    expiresAt: '2027-01-01T00:00:00.000Z',
  })
})

test('a name that nobody can read, or that pretends to be another one, is given to no key', async () => {
  const request = { advertisers: [1], scopes: ['report:read'] }
  const rule =
    '/name must be text with a visible character and without controls, also those of the direction of writing'
  for (const name of [
    ' ',
    '\u200b',
    '\u2800\t',
    'x\u202e',
    '\u2066x',
    'a\nb',
    'a\u0007',
    'a\u0085',
    'a\u2028b',
  ]) {
    const refused = await admin.app.inject(postKey({ ...request, name }))
    assert.equal(refused.statusCode, 422, JSON.stringify(name))
    assert.deepEqual(refused.json(), { messages: [rule] })
  }
  for (const name of [
    'x',
    ' x ',
    'Müller & Söhne',
    '\u05d0\u200f',
    'نیم\u200cفاصله',
    '👩\u200d💻',
    'x'.repeat(500),
  ]) {
    const taken = await admin.app.inject(postKey({ ...request, name }))
    assert.equal(taken.statusCode, 201, `${JSON.stringify(name)}: ${taken.body}`)
  }
})

test('a key that would have ended already is not made, and nothing is recorded of it', async () => {
  const listBefore = admin.keys.list()
  // The clock of these tests stands at 2026-03-02T10:00:00Z.
  for (const expiresAt of [
    '2020-01-01T00:00:00Z',
    '2026-03-02T09:59:00Z',
    '2026-03-02T10:00:00Z',
  ]) {
    const answer = await admin.app.inject(
      postKey({ name: 'late', advertisers: [1], scopes: ['report:read'], expiresAt })
    )
    assert.equal(answer.statusCode, 422, expiresAt)
    assert.deepEqual(answer.json(), { messages: ['/expiresAt must lie in the future'] })
  }
  assert.deepEqual(admin.keys.list(), listBefore)
  const next = { name: 'soon', advertisers: [1], scopes: ['report:read'] }
  const answer = await admin.app.inject(postKey({ ...next, expiresAt: '2026-03-02T10:00:01Z' }))
  assert.equal(answer.statusCode, 201)
})

test('a revoked key is refused from then on, an unknown one is not found', async () => {
  const key = await admin.keyOf({ name: 'to revoke', scopes: ['metrics:read'] })
  const id = admin.keys.list().find(({ name }) => name === 'to revoke')?.id ?? ''
  assert.equal((await admin.app.inject({ url: '/metrics', headers: bearer(key) })).statusCode, 200)

  const response = await admin.app.inject(revoke(id))

  assert.deepEqual([response.statusCode, response.body], [204, ''])
  assert.equal((await admin.app.inject({ url: '/metrics', headers: bearer(key) })).statusCode, 401)
  assert.equal((await admin.app.inject(revoke(id))).statusCode, 204)
  assert.equal((await admin.app.inject(revoke('key_none'))).statusCode, 404)
  assert.equal((await admin.app.inject(revoke('%2e%2e%2f'))).statusCode, 404)
})

test('since when a revoked key was compromised is listed and recorded, and can be told later', async () => {
  const made = await admin.keys.create({ name: 'n', publishers: [10], scopes: ['delivery:write'] })
  const since = '2026-01-01T00:00:00.000Z'
  const statuses: number[] = []

  for (const query of ['', `?compromisedSince=${since}`, '?compromisedSince=yesterday']) {
    statuses.push((await admin.app.inject(revoke(`${made.id}${query}`))).statusCode)
  }

  assert.deepEqual(statuses, [204, 204, 422])
  const { json } = await admin.call('GET', '/admin/v1/keys')
  assert.match(JSON.stringify(json), new RegExp(`"compromisedSince":"${since}"`))
  const audits = (await admin.audits()).filter(({ subject }) => subject === made.id)
  const ends = audits.map(({ details }) => /"compromisedSince":[^}]*\}\}$/u.exec(details)?.[0])
  assert.deepEqual(
    new Set(ends),
    new Set([`"compromisedSince":"${since}"}}`, '"compromisedSince":null}}'])
  )
})

test('a key cannot have been compromised in the future, and is not revoked by such a slip', async () => {
  const made = await admin.keys.create({ name: 'n', publishers: [10], scopes: ['delivery:write'] })
  const revokeSince = (ms: number) =>
    admin.app.inject(revoke(`${made.id}?compromisedSince=${new Date(ms).toISOString()}`))

  for (const ms of [nowMs + 1, Date.UTC(2999, 0, 1)]) {
    const response = await revokeSince(ms)
    assert.equal(response.statusCode, 422)
    assert.deepEqual(response.json(), {
      messages: ['compromisedSince must not lie in the future'],
    })
  }

  assert.equal(admin.keys.findById(made.id)?.revokedAtMs, null)
  assert.ok((await admin.audits()).every(({ subject }) => subject !== made.id))
  assert.equal((await revokeSince(nowMs)).statusCode, 204)
})

test('a request for a key that breaks a rule makes none', async () => {
  const good = { name: 'n', advertisers: [1], scopes: ['report:read'] }
  const listBefore = admin.keys.list()
  for (const payload of [
    '',
    '{',
    {},
    { ...good, name: '' },
    { ...good, advertisers: [] },
    { ...good, advertisers: 'some' },
    { ...good, advertisers: [0] },
    { ...good, advertisers: [1, 2, 1] },
    { ...good, publishers: [10, 10] },
    { ...good, scopes: [] },
    { ...good, scopes: ['root'] },
    { ...good, expiresAt: '2026-02-30T00:00:00Z' },
    { ...good, expiresAt: 'tomorrow' },
  ]) {
    const response = await admin.app.inject(postKey(payload))
    assert.equal(response.statusCode, 422, JSON.stringify(payload))
  }
  assert.deepEqual(admin.keys.list(), listBefore)
})

test('a key may be for publishers alone, and a scope without anyone to use it for is refused', async () => {
  const post = async (payload: object) => await admin.app.inject(postKey({ name: 'n', ...payload }))
  const publisherKey = await post({ publishers: [10], scopes: ['intake:read', 'metrics:read'] })
  const forNobody = await post({ advertisers: [1], scopes: ['report:read', 'intake:read'] })
  const withoutAdvertisers = await post({ publishers: [10], scopes: ['site:read', 'intake:read'] })

  assert.equal(publisherKey.statusCode, 201)
  const { id } = publisherKey.json<{ id: string }>()
  const key = admin.keys.list().find((listed) => listed.id === id)
  assert.deepEqual([key?.advertisers, key?.publishers], [[], [10]])
  assert.deepEqual(forNobody.json(), {
    messages: ['/publishers is required for the scopes intake:read'],
  })
  assert.deepEqual(withoutAdvertisers.json(), {
    messages: ['/advertisers is required for the scopes site:read'],
  })
})

test('no key of some advertisers only gets a scope that belongs to no advertiser', async () => {
  const listBefore = admin.keys.list()
  for (const scope of ['admin', 'events:write']) {
    const payload = { name: 'n', scopes: ['report:read', scope], advertisers: [1] }
    const response = await admin.app.inject(postKey(payload))
    assert.equal(response.statusCode, 422)
    assert.match(response.body, /advertisers must be/)
  }
  assert.deepEqual(admin.keys.list(), listBefore)
})

test('without the scope admin every call of administration is forbidden', async () => {
  const key = await admin.keyOf({ scopes: ['report:read', 'link:mint', 'events:write'] })
  const calls = [put(bundle, key), postKey({}, key), listKeys(key), revoke('x', key)]
  for (const call of calls) {
    assert.equal((await admin.app.inject(call)).statusCode, 403, `${call.method} ${call.url}`)
  }
  for (const url of ['/admin/v1/catalog', '/admin/v1/status']) {
    assert.equal((await admin.app.inject({ url, headers: bearer(key) })).statusCode, 403)
    assert.equal((await admin.app.inject({ url })).statusCode, 401)
  }
})

test('the status is told as it is', async () => {
  const response = await admin.app.inject({ url: '/admin/v1/status', headers: bearer(adminKey) })

  assert.deepEqual(response.json(), status)
})

test('every change is recorded with its author, and neither record nor log holds a key', async () => {
  const created = await admin.app.inject(
    postKey({ name: 'audited', advertisers: 'all', scopes: ['admin'] })
  )
  const { id, key } = created.json<{ id: string; key: string }>()
  await admin.app.inject(put({ advertisers: [{ id: 60, name: 'x' }] }, key))
  await admin.app.inject(revoke(id, key))

  const audits = await admin.audits()

  const byKey = audits.filter(({ key_id }) => key_id === id)
  assert.deepEqual(
    new Set(byKey.map(({ action, subject }) => `${action} ${subject}`)),
    new Set(['catalog.put 1 entries, 0 products', `key.revoke ${id}`])
  )
  const creation = audits.find(({ action, subject }) => action === 'key.create' && subject === id)
  assert.equal(creation?.key_id, 'configured-admin')
  const everything = JSON.stringify(audits) + admin.log.text
  assert.ok(!everything.includes(key) && !everything.includes(adminKey))
})
