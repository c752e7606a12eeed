import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessKey } from '../../src/access/key.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import type { Me } from '../../src/contract/me.ts'
import { aKey, assetId, bearer, startHarness } from './harness.ts'

test('a key with any scope is told its name, its scopes and the advertisers it is for, by their names', async (t) => {
  const { app } = startHarness({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: () =>
        aKey({ scopes: ['metrics:read'], advertisers: [1, 999], expiresAtMs: 1_800_000_000_000 }),
    },
  })
  t.after(() => app.close())

  const response = await app.inject({ url: '/v2/me', headers: bearer('x') })

  assert.deepEqual(response.json(), {
    name: 'a key',
    signOn: false,
    scopes: ['metrics:read'],
    advertisers: [
      { id: 1, name: 'Acme' },
      { id: 999, name: null },
    ],
    publishers: [],
    deliveries: [],
    expiresAt: '2027-01-15T08:00:00.000Z',
  })
})

test('a key for all advertisers is told so, and one that never expires too', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())

  const response = await app.inject({ url: '/v2/me', headers: bearer('all') })

  const { advertisers, expiresAt } = response.json<Record<string, unknown>>()
  assert.deepEqual([advertisers, expiresAt], ['all', null])
  const [stranger, nobody] = await Promise.all([
    app.inject({ url: '/v2/me', headers: bearer('unknown') }),
    app.inject({ url: '/v2/me' }),
  ])
  assert.deepEqual([stranger.statusCode, nobody.statusCode], [401, 401])
})

test('a key is told what its deliveries would be judged as, for each of its publishers', async (t) => {
  const sources = ['127.0.0.0/8']
  const snapshot = extendSnapshot(emptySnapshot, {
    publishers: [
      { id: 1, name: 'silent' },
      { id: 2, name: 'keyed', requireKey: true },
      { id: 3, name: 'here', requireKey: true, conversionSources: sources },
      { id: 4, name: 'elsewhere', conversionSources: ['203.0.113.0/24'] },
      { id: 5, name: 'lax', requireKey: false },
    ],
  })
  const ask = async (key: Partial<AccessKey>, requiresDeliveryKey: boolean) => {
    const { app } = startHarness({
      keys: {
        isValid: () => true,
        find: () => aKey({ advertisers: [], ...key }),
        findRefused: () => null,
        findPerson: () => null,
      },
      catalog: { current: () => snapshot, attach: () => Promise.resolve(null) },
      requiresDeliveryKey,
    })
    t.after(() => app.close())
    const response = await app.inject({ url: '/v2/me', headers: bearer('x') })
    const { deliveries } = response.json<Me>()
    return deliveries.map((one) => [
      one.publisherId,
      one.judgedAs,
      `${one.requiresKey}/${one.hasSources}`,
    ])
  }
  const publishers = [1, 2, 3, 4, 5, 99]

  assert.deepEqual(await ask({ publishers, scopes: ['delivery:write'] }, true), [
    [1, 'valid', 'true/false'],
    [2, 'valid', 'true/false'],
    [3, 'valid', 'true/true'],
    [4, 'untrusted-source', 'true/true'],
    [5, 'valid', 'false/false'],
    [99, 'valid', 'true/false'],
  ])
  assert.deepEqual(await ask({ publishers, scopes: ['intake:read'] }, true), [
    [1, 'unauthenticated', 'true/false'],
    [2, 'unauthenticated', 'true/false'],
    [3, 'unauthenticated', 'true/true'],
    [4, 'untrusted-source', 'true/true'],
    [5, 'valid', 'false/false'],
    [99, 'unknown-publisher', 'true/false'],
  ])
  assert.deepEqual(await ask({ publishers: [1, 99], scopes: ['intake:read'] }, false), [
    [1, 'valid', 'false/false'],
    [99, 'valid', 'false/false'],
  ])
  assert.equal((await ask({ publishers: 'all', scopes: ['delivery:write'] }, true)).length, 5)
  // No delivery is believed by the key of the configuration: it is in no list of keys.
  const configured = { isConfigured: true, publishers: [1], scopes: ['delivery:write'] } as const
  assert.deepEqual(await ask(configured, true), [[1, 'unauthenticated', 'true/false']])
})

interface Account {
  readonly name: string
  readonly isWhole: boolean
  readonly publishers: readonly object[]
  readonly campaigns: readonly { readonly id: number }[]
  readonly adGroups: readonly { readonly id: number }[]
  readonly assets: readonly { readonly advertiserId: number; readonly id: string }[]
}

test('an account holds what is of the advertiser, and nothing of another one', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const url = '/v2/advertisers/1/account'

  const account = (await app.inject({ url, headers: bearer('K1') })).json<Account>()

  assert.equal(account.name, 'Acme')
  assert.equal(account.isWhole, true)
  assert.deepEqual(account.publishers, [{ id: 10, name: 'Example Shop', marketIds: [1, 3, 2] }])
  assert.deepEqual(
    account.campaigns.map(({ id }) => id),
    [1001, 1002]
  )
  assert.deepEqual(
    account.adGroups.map(({ id }) => id),
    [5001, 5002, 5003, 5004, 5005]
  )
  assert.deepEqual([...new Set(account.assets.map((asset) => asset.advertiserId))], [1])
  assert.ok(account.assets.some(({ id }) => id === assetId))
})

test('an account is for keys of the advertiser: others learn nothing, and one that does not exist is 404', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const ask = async (id: string, key: string) =>
    (await app.inject({ url: `/v2/advertisers/${id}/account`, headers: bearer(key) })).statusCode

  assert.deepEqual(
    [await ask('1', 'K2'), await ask('999', 'K2'), await ask('999', 'all'), await ask('x', 'all')],
    [403, 403, 404, 404]
  )
})
