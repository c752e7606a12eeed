import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, startHarness } from './harness.ts'

function get(query: string, options: { readonly key?: string; readonly id?: string } = {}) {
  const { key = 'K1', id = '1' } = options
  return {
    method: 'GET',
    url: `/v2/advertisers/${id}/eligible/site-locations${query}`,
    headers: bearer(key),
  } as const
}

const home = { type: 'DISPLAY', location: 'HOME_PAGE' }
const search = { type: 'PLATFORM_PRODUCT', location: 'SEARCH_PAGE', pagePosition: 'MAIN_GRID' }
const desktop = { id: 101, name: 'Desktop', type: 'DESKTOP' }
const mobile = { id: 102, name: 'App', type: 'MOBILE_APP' }

const answers: readonly (readonly [name: string, query: string, answer: object])[] = [
  [
    'all sites of the market with their locations',
    '?publisherId=10&marketId=1',
    [
      { site: desktop, locations: [search, home] },
      { site: mobile, locations: [home] },
    ],
  ],
  [
    'locations of one type of ad group, and no site without one left',
    '?publisherId=10&marketId=1&adGroupType=SPA',
    [{ site: desktop, locations: [search] }],
  ],
  [
    'nothing for a type that no location carries',
    '?publisherId=10&marketId=1&adGroupType=SPONSORED_BRAND',
    [],
  ],
  ['nothing at a site that the grant leaves out', '?publisherId=10&marketId=2', []],
  ['nothing in a market that is no longer active', '?publisherId=10&marketId=3', []],
]
for (const [name, query, answer] of answers) {
  test(`site locations: ${name}`, async (t) => {
    const { app } = startHarness()
    t.after(() => app.close())

    const response = await app.inject(get(query))

    assert.equal(response.statusCode, 200)
    assert.deepEqual(response.json(), answer)
  })
}

test('an advertiser that is no longer active may use nothing', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const response = await app.inject(get('?publisherId=10&marketId=1', { key: 'all', id: '3' }))
  assert.deepEqual([response.statusCode, response.json()], [200, []])
})

test('a publisher to which the advertiser has no access looks like one that does not exist', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  for (const [id, known] of [
    ['1', '20'],
    ['2', '10'],
  ] as const) {
    for (const marketId of ['1', '99']) {
      const ask = (publisherId: string) =>
        app.inject(get(`?publisherId=${publisherId}&marketId=${marketId}`, { key: 'all', id }))
      const [hidden, absent] = [await ask(known), await ask('77')]
      assert.deepEqual([hidden.statusCode, hidden.json()], [absent.statusCode, absent.json()])
      assert.equal(hidden.statusCode, 404)
    }
  }
})

test('unknown advertisers, publishers and markets are not found', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  assert.equal((await app.inject(get('?x', { key: 'all', id: '9' }))).statusCode, 404)
  for (const query of [
    '?publisherId=99&marketId=1',
    '?publisherId=-10&marketId=1',
    '?publisherId=0&marketId=1',
    '?publisherId=10&marketId=99',
  ]) {
    assert.equal((await app.inject(get(query))).statusCode, 404, query)
  }
})

test('missing, malformed, doubled and unknown parameters are answered 422, all at once', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  for (const query of [
    '?publisherId=10',
    '?marketId=1',
    '?publisherId=&marketId=1',
    '?publisherId=010&marketId=1',
    '?publisherId=+10&marketId=1',
    '?publisherId=1e1&marketId=1',
    '?publisherId=10.0&marketId=1',
    '?publisherId=2147483648&marketId=1',
    '?publisherId=10&publisherId=10&marketId=1',
    '?publisherId[]=10&marketId=1',
    '?publisherId=10&marketId=1&adGroupType=',
    '?publisherId=10&marketId=1&adGroupType=spa',
    '?publisherId=10&marketId=1&adGroupType=SPA&adGroupType=SPA',
    '?publisherId=10&marketId=1&adGroupType=constructor',
  ]) {
    assert.equal((await app.inject(get(query))).statusCode, 422, query)
  }
  const all = await app.inject(get('?adGroupType=x'))
  assert.deepEqual(all.json(), {
    messages: [
      'publisherId is required',
      'marketId is required',
      'adGroupType must be one of: DISPLAY, SPA, SPONSORED_BRAND',
    ],
  })
})

test('one advertiser never sees the list of another, neither by path nor by query', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const query = '?publisherId=10&marketId=1'
  assert.equal((await app.inject(get(query, { key: 'K2' }))).statusCode, 403)
  const own = await app.inject(get(`${query}&advertiserId=1`, { key: 'all', id: '2' }))
  assert.equal(own.statusCode, 404)
})
