import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AuditPage } from '../../../src/contract/audit.ts'
import { adminKey, bearer, bundle, nowMs, startAdmin, type AdminHarness } from './harness.ts'
import { placement } from '../../helpers/placement.ts'
import { aBundle, anAsset } from '../../helpers/bundle.ts'

let admin: AdminHarness

before(async () => {
  admin = await startAdmin()
})
after(() => admin.close())

async function readAudit(query = '', key = adminKey) {
  return await admin.app.inject({ url: `/admin/v1/audit${query}`, headers: bearer(key) })
}

async function pageOf(query: string): Promise<AuditPage> {
  const response = await readAudit(query)
  assert.equal(response.statusCode, 200, response.body)
  return response.json<AuditPage>()
}

function call(method: 'POST' | 'PUT' | 'DELETE', path: string, payload?: object | string) {
  return async (key: string) =>
    await admin.app.inject({
      method,
      url: path.startsWith('/display') ? path : `/admin/v1${path}`,
      headers: bearer(key),
      ...(payload !== undefined && { payload }),
    })
}

const assetId = anAsset().id
const attachPath = '/display/v2/advertisers/1/campaigns/1001/display/ad-groups/5003/assets'
const link = {
  ...placement,
  gtin: '4006381333931',
  userId: 'RAW-USER-CANARY',
}
const wholeBundle = {
  ...bundle,
  adGroups: [...bundle.adGroups, { id: 5003, campaignId: 1001, name: 'Banners', type: 'DISPLAY' }],
  creativeSizes: aBundle().creativeSizes,
  assets: [anAsset()],
}

test('every call that changes something leaves one record, with its author, and no secret', async () => {
  const key = await admin.keyOf({ name: 'the operator' })
  const keyId = admin.keys.list().find(({ name }) => name === 'the operator')?.id ?? ''
  await call('PUT', '/catalog', wholeBundle)(key)
  const request = { name: 'Shop', publishers: [10], scopes: ['intake:read'] }
  const created = await call('POST', '/keys', request)(key)
  const { id, key: newKey } = created.json<{ id: string; key: string }>()
  const minted = await call('POST', '/tracking-links', { links: [link, link] })(key)
  const attached = await call('POST', attachPath, { creativeSizeId: 1, assetId })(key)
  await call('POST', '/events', '{"type":"click"}\n')(key)
  await call('DELETE', `/keys/${id}`)(key)

  const response = await readAudit(`?keyId=${keyId}`)

  assert.equal(attached.statusCode, 201, attached.body)
  const { records } = response.json<AuditPage>()
  const { details: catalogDetails } = records.at(-1) ?? assert.fail('there are records')
  assert.equal((catalogDetails['changes'] as object[]).length, 15)
  assert.deepEqual(
    records.map(({ action, subject, details }) => ({ action, subject, details })),
    [
      {
        action: 'key.revoke',
        subject: id,
        details: {
          name: 'Shop',
          scopes: ['intake:read'],
          before: { revokedAt: null, compromisedSince: null },
          after: { revokedAt: new Date(nowMs).toISOString(), compromisedSince: null },
        },
      },
      { action: 'events.backfill', subject: '0 accepted, 1 refused', details: {} },
      {
        action: 'asset.attach',
        subject: 'ad group 5003, creative size 1',
        details: { advertiserId: 1, before: { assetId: null }, after: { assetId } },
      },
      { action: 'links.mint', subject: '2 links', details: { advertisers: [1] } },
      {
        action: 'key.create',
        subject: id,
        details: {
          name: 'Shop',
          scopes: ['intake:read'],
          advertisers: [],
          publishers: [10],
          expiresAt: null,
        },
      },
      { action: 'catalog.put', subject: '15 entries, 0 products', details: catalogDetails },
    ]
  )
  assert.ok(records.every((record) => record.keyName === 'the operator' && record.keyId === keyId))
  const token = minted.json<{ links: { trackingData: string }[] }>().links[0]?.trackingData ?? ''
  for (const secret of [key, newKey, token, 'CANARY']) {
    assert.ok(secret.length > 5 && !response.body.includes(secret))
  }
})

test('what is refused, and what only reads, leaves no record', async () => {
  const key = await admin.keyOf({ name: 'the refused' })
  const keyId = admin.keys.list().find(({ name }) => name === 'the refused')?.id ?? ''
  await call('PUT', '/catalog', '{')(key)
  await call('POST', '/keys', {})(key)
  await call('POST', '/tracking-links', { links: [{ ...link, siteId: 999 }] })(key)
  await call('POST', attachPath, { creativeSizeId: 9, assetId })(key)
  await call('DELETE', '/keys/key_none')(key)
  await readAudit('', key)

  assert.deepEqual(await pageOf(`?keyId=${keyId}`), { records: [] })
})

test('the pages of the record hold all of it once, also while more is recorded', async () => {
  const key = await admin.keyOf({ name: 'the busy' })
  const keyId = admin.keys.list().find(({ name }) => name === 'the busy')?.id ?? ''
  const mint = call('POST', '/tracking-links', { links: [link] })
  for (let count = 0; count < 7; count += 1) await mint(key)
  const whole = await pageOf(`?keyId=${keyId}`)

  const ids: string[] = []
  let cursor = ''
  for (;;) {
    const page = await pageOf(`?keyId=${keyId}&limit=3${cursor}`)
    ids.push(...page.records.map(({ id }) => id))
    await mint(key)
    if (page.next === undefined) break
    cursor = `&after=${page.next}`
  }

  assert.equal(whole.records.length, 7)
  assert.equal(whole.next, undefined)
  assert.deepEqual(
    ids,
    whole.records.map(({ id }) => id)
  )
})

const faults: readonly (readonly [query: string, message: RegExp])[] = [
  ['?from=2026-03-01', /^from must be an instant/],
  ['?to=2026-02-30T00:00:00Z', /^to must be an instant/],
  ['?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', /^from must not be after to$/],
  ['?action=key.steal', /^action must be one of: .*key\.create/],
  ['?keyId=', /^keyId must be an id/],
  [`?keyId=${'x'.repeat(65)}`, /^keyId must be an id/],
  ['?limit=0', /^limit must be an integer from 1 to 1000$/],
  ['?limit=1001', /^limit must be/],
  ['?limit=1e2', /^limit must be/],
  ['?after=x', /^after must be the next of the page before/],
  [`?after=${'9'.repeat(17)}.${assetId}`, /^after must be/],
  ['?limit=1&limit=2', /^limit must be given once$/],
]
for (const [query, message] of faults) {
  test(`the record is not read with ${query}, and the rule is told`, async () => {
    const response = await readAudit(query)

    assert.equal(response.statusCode, 422)
    const { messages } = response.json<{ messages: string[] }>()
    assert.equal(messages.length, 1)
    assert.match(messages[0] ?? '', message)
  })
}

test('instants far outside of any record are a range like any other', async () => {
  const empty = await pageOf('?to=0001-01-01T00:00:00Z')
  const none = await pageOf('?from=9999-12-31T23:59:59Z')
  const all = await pageOf('?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&limit=1')

  assert.deepEqual([empty.records, none.records, all.records.length], [[], [], 1])
})

test('the record is for the scope admin alone', async () => {
  const key = await admin.keyOf({ scopes: ['report:read', 'link:mint', 'events:write'] })

  assert.equal((await readAudit('', key)).statusCode, 403)
  assert.equal((await readAudit('', 'st_unknown')).statusCode, 401)
})
