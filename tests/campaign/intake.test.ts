import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aKey, bearer, startHarness } from './harness.ts'
import type { CampaignDeps } from '../../src/campaign/deps.ts'

const keys: Readonly<Record<string, ReturnType<typeof aKey>>> = {
  shop: aKey({ advertisers: [], publishers: [10], scopes: ['intake:read'] }),
  all: aKey({ id: 'key_all', publishers: 'all', scopes: ['intake:read'] }),
  old: aKey({ id: 'key_old', advertisers: 'all', scopes: ['admin'] }),
  scopeless: aKey({ publishers: [10], scopes: ['report:read'] }),
}

function start(changes: Partial<CampaignDeps> = {}) {
  return startHarness({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: (text) => keys[text] ?? null,
    },
    ...changes,
  })
}

function get(
  publisherId: number | string,
  key: string,
  query = 'startDate=2026-03-01&endDate=2026-03-02'
) {
  return { url: `/v2/publishers/${publisherId}/intake?${query}`, headers: bearer(key) } as const
}

test('the intake of a publisher is asked for with what the catalog knows of it', async (t) => {
  const { app, intakes } = start()
  t.after(() => app.close())

  const response = await app.inject(get(10, 'shop'))

  assert.equal(response.statusCode, 200)
  assert.equal(response.json<{ publisherId: number }>().publisherId, 10)
  const { signal, ...question } = intakes[0] ?? assert.fail()
  assert.deepEqual(question, {
    publisherId: 10,
    startDate: '2026-03-01',
    endDate: '2026-03-02',
    siteIds: [101, 102, 103, 104],
    marketIds: [1, 2, 3],
  })
  assert.equal(signal.aborted, false)
})

test('a key reads the intake of its own publishers only, and no refusal tells which ones exist', async (t) => {
  const { app, intakes } = start()
  t.after(() => app.close())
  const refused = await Promise.all(
    [20, 999, '0', 'x', '010'].map((id) => app.inject(get(id, 'shop')))
  )

  for (const response of refused) {
    assert.equal(response.statusCode, 403)
    assert.deepEqual(response.json(), { messages: ['The key is not for this publisher.'] })
  }
  for (const key of ['old', 'scopeless']) {
    assert.equal((await app.inject(get(10, key))).statusCode, 403, key)
  }
  assert.equal((await app.inject(get(10, 'unknown'))).statusCode, 401)
  assert.equal(intakes.length, 0)
})

test('for a key for all publishers an unknown one is not found, before its query is looked at', async (t) => {
  const { app } = start()
  t.after(() => app.close())
  for (const id of [999, '0', 'x', '010', '2147483648']) {
    assert.equal((await app.inject(get(id, 'all', 'startDate=x'))).statusCode, 404, String(id))
  }
  assert.equal((await app.inject(get(20, 'all'))).statusCode, 200)
})

const badRanges: readonly (readonly [query: string, messages: readonly string[]])[] = [
  ['', ['startDate is required', 'endDate is required']],
  ['startDate=2026-03-01', ['endDate is required']],
  [
    'startDate=2026-02-30&endDate=tomorrow',
    ['startDate must be a date such as 2026-03-01', 'endDate must be a date such as 2026-03-01'],
  ],
  [
    'startDate=2026-03-01&startDate=2026-03-02&endDate=2026-03-03',
    ['startDate must be given once'],
  ],
  ['startDate=2026-03-02&endDate=2026-03-01', ['startDate must not be after endDate']],
  [
    'startDate=2026-01-01&endDate=2026-04-03',
    ['endDate must be at most 92 days from startDate, both included'],
  ],
]
for (const [query, messages] of badRanges) {
  test(`a range of "${query}" is refused with the rule it breaks`, async (t) => {
    const { app, intakes } = start()
    t.after(() => app.close())

    const response = await app.inject(get(10, 'shop', query))

    assert.equal(response.statusCode, 422)
    assert.deepEqual(response.json(), { messages })
    assert.equal(intakes.length, 0)
  })
}

test('a range of 92 days is the longest', async (t) => {
  const { app } = start()
  t.after(() => app.close())
  const query = 'startDate=2026-01-01&endDate=2026-04-02'
  assert.equal((await app.inject(get(10, 'shop', query))).statusCode, 200)
})

test('readings share the slots of a key with its reports, and give them back however they end', async (t) => {
  const resolvers: ((error?: Error) => void)[] = []
  const { app } = start({
    reportsPerKeyMax: 1,
    readIntake: (question) =>
      new Promise((resolve, reject) => {
        const { publisherId, startDate, endDate } = question
        const unknown = { conversionSites: [], adSites: [], adMarkets: [] }
        resolvers.push((error) =>
          error === undefined
            ? resolve({
                publisherId,
                startDate,
                endDate,
                days: [],
                unknown,
                notBelieved: [],
                lookAlikes: 0,
              })
            : reject(error)
        )
      }),
  })
  t.after(() => app.close())
  const asked = async () => {
    const response = app.inject(get(10, 'shop'))
    const countBefore = resolvers.length
    while (resolvers.length === countBefore) await new Promise((resolve) => setImmediate(resolve))
    return { response }
  }

  const running = await asked()
  const refused = await app.inject(get(10, 'shop'))
  resolvers[0]?.(new Error('broken'))
  const failed = await running.response
  const next = await asked()
  resolvers[1]?.()

  assert.equal(refused.statusCode, 429)
  assert.deepEqual(refused.json(), {
    messages: ['The key has too many reports running at once; try again in a moment.'],
  })
  assert.equal(refused.headers['retry-after'], '2')
  assert.equal(failed.statusCode, 500)
  assert.equal((await next.response).statusCode, 200)
})
