import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate, authorize, type Party } from '../../src/access/authenticate.ts'
import type { AccessKey } from '../../src/access/key.ts'
import { scopes } from '../../src/contract/admin.ts'

const key: AccessKey = {
  id: 'key_1',
  name: 'a key',
  advertisers: [1, 2],
  publishers: [10],
  scopes: ['report:read'],
  createdAtMs: 0,
  expiresAtMs: null,
  revokedAtMs: null,
  compromisedSinceMs: null,
  invitation: null,
  isSignOn: false,
  isConfigured: false,
}
const keys = {
  find: (token: string) => (token === 'st_good-1_2.~+/==' ? key : null),
  findRefused: () => null,
}
const good = 'Bearer st_good-1_2.~+/=='

test('the scheme may be written in any case and followed by several blanks', () => {
  for (const header of [
    good,
    good.replace('Bearer', 'bearer'),
    good.replace('Bearer ', 'BEARER   '),
  ]) {
    assert.deepEqual(authenticate(['Host', 'x', 'AuthorizatioN', header], keys), { ok: true, key })
  }
})

test('what is missing, malformed, doubled or unknown is no authentication, and is never repeated', () => {
  const canary = 'SECRET-CANARY'
  const lines: readonly (readonly string[])[] = [
    [],
    ['authorization', ''],
    ['authorization', 'Bearer'],
    ['authorization', 'Bearer '],
    ['authorization', 'Bearer undefined'],
    ['authorization', 'st_good'],
    ['authorization', `Basic ${canary}`],
    ['authorization', `Bearer ${canary} `],
    ['authorization', `Bearer {"token":"${canary}"}`],
    ['authorization', `${good}, ${good}`],
    ['authorization', `${good} ${canary}`],
    ['authorization', good, 'Authorization', good],
    ['authorization', good, 'authorization', `Bearer ${canary}`],
    ['x-authorization', good],
    ['x', 'authorization', 'y', good],
  ]
  for (const rawHeaders of lines) {
    const result = authenticate(rawHeaders, keys)
    assert.equal(result.ok, false, rawHeaders.join(' '))
    assert.ok(!JSON.stringify(result).includes(canary))
  }
})

function advertiser(id: Party['id']): Party {
  return { kind: 'advertiser', id }
}

function publisher(id: Party['id']): Party {
  return { kind: 'publisher', id }
}

test('publishers and advertisers of a key are apart: one gives no right to the other', () => {
  const reader: AccessKey = { ...key, scopes: ['intake:read', 'report:read'] }
  const may = (party: Party) => authorize(reader, { scope: 'intake:read', party })

  assert.deepEqual(may(publisher(10)), { ok: true })
  assert.equal(may(publisher(1)).ok, false)
  assert.equal(may(advertiser(10)).ok, false)
  assert.deepEqual(may(publisher(11)), may(publisher('none-such')))
  const everyAdvertiser: AccessKey = { ...reader, advertisers: 'all', publishers: [] }
  assert.equal(authorize(everyAdvertiser, { scope: 'intake:read', party: publisher(10) }).ok, false)
  const everyPublisher: AccessKey = { ...reader, publishers: 'all' }
  for (const id of [1, 99, 'none-such'] as const) {
    assert.equal(authorize(everyPublisher, { scope: 'intake:read', party: publisher(id) }).ok, true)
  }
})

test('a key may do what its scopes and its advertisers say, both', () => {
  const demand = { scope: 'report:read', party: advertiser(1) } as const

  assert.deepEqual(authorize(key, demand), { ok: true })
  assert.equal(authorize(key, { ...demand, party: advertiser(3) }).ok, false)
  assert.equal(authorize(key, { ...demand, party: advertiser('none-such') }).ok, false)
  assert.equal(authorize(key, { ...demand, scope: 'asset:write' }).ok, false)
  assert.deepEqual(authorize(key, { ...demand, party: null }), { ok: true })
})

test('the scope admin stands for every scope, but not for other advertisers', () => {
  const admin: AccessKey = { ...key, scopes: ['admin'] }
  for (const scope of scopes) {
    assert.equal(authorize(admin, { scope, party: advertiser(1) }).ok, true)
    assert.equal(authorize(admin, { scope, party: advertiser(3) }).ok, false)
  }
})

test('a refusal is the same whether or not the advertiser could exist', () => {
  const refused = authorize(key, { scope: 'report:read', party: advertiser(3) })

  assert.deepEqual(
    authorize(key, { scope: 'report:read', party: advertiser('none-such') }),
    refused
  )
})
