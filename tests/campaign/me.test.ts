import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aKey, assetId, bearer, startHarness } from './harness.ts'

test('a key with any scope is told its name, its scopes and the advertisers it is for, by their names', async (t) => {
  const { app } = startHarness({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      find: () =>
        aKey({ scopes: ['metrics:read'], advertisers: [1, 999], expiresAtMs: 1_800_000_000_000 }),
    },
  })
  t.after(() => app.close())

  const response = await app.inject({ url: '/v2/me', headers: bearer('x') })

  assert.deepEqual(response.json(), {
    name: 'a key',
    scopes: ['metrics:read'],
    advertisers: [
      { id: 1, name: 'Acme' },
      { id: 999, name: null },
    ],
    publishers: [],
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
