import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TrafficQualityCall, TrafficQualityRow } from '../../src/reports/traffic-quality.ts'
import { bearer, startHarness } from './harness.ts'

const url = '/v2/advertisers/1/reports/traffic-quality.csv'
const range = 'startDate=2026-03-01&endDate=2026-03-31'
const header =
  'DATE,MARKET,PUBLISHER_ID,PUBLISHER_NAME,KIND,COUNTED,BOT,PREFETCH,EXPIRED,EARLY,TOO_LATE,' +
  'NO_USER_AGENT,DATA_CENTRE,BOT_RATE,PREFETCH_RATE,EXPIRED_RATE,EARLY_RATE,TOO_LATE_RATE,NO_USER_AGENT_RATE,DATA_CENTRE_RATE\r\n'

const row: TrafficQualityRow = {
  date: '2026-03-02',
  market: 'DE',
  publisherId: 10,
  publisherName: 'Example Shop',
  kind: 'CLICK',
  counted: 7,
  uncounted: new Map([
    ['bot', 6],
    ['prefetch', 5],
    ['expired', 4],
    ['early', 3],
    ['too-late', 2],
    ['no-user-agent', 1],
    ['data-centre', 2],
  ]),
}

/** Of 30 events; the rates are rounded half even. */
const figures = '7,6,5,4,3,2,1,2,0.200000,0.166667,0.133333,0.100000,0.066667,0.033333,0.066667'

function get(query = range, key = 'K1', path = url) {
  return { url: `${path}?${query}`, headers: bearer(key) } as const
}

test('the file says what it is, and each reason has its column', async (t) => {
  const calls: TrafficQualityCall[] = []
  const { app } = startHarness({
    readTrafficQuality: (call) => {
      calls.push(call)
      const other: TrafficQualityRow = { ...row, kind: 'LOAD', publisherName: '=1+1, "x"' }
      const rows = [row, other]
      return Promise.resolve({
        totalRows: 2,
        completeThrough: '2026-03-30',
        unconvertedCount: 0,
        rows,
      })
    },
  })
  t.after(() => app.close())

  const { statusCode, headers, body } = await app.inject(get())

  assert.equal(statusCode, 200)
  assert.equal(
    body,
    `${header}2026-03-02,DE,10,Example Shop,CLICK,${figures}\r\n` +
      `2026-03-02,DE,10,"'=1+1, ""x""",LOAD,${figures}\r\n`
  )
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8')
  assert.equal(
    headers['content-disposition'],
    'attachment; filename="traffic-quality-advertiser-1-2026-03-01-to-2026-03-31.csv"'
  )
  assert.deepEqual([headers['x-total-rows'], headers['x-complete-through']], ['2', '2026-03-30'])
  const { signal, ...asked } = calls[0] ?? assert.fail()
  assert.equal(signal.aborted, false)
  const request = { startDate: '2026-03-01', endDate: '2026-03-31', page: 0, limit: 10_000 }
  assert.deepEqual(asked, { advertiserId: 1, keyId: 'key_1', request })
})

test('without events the file is its header, and no complete day is told', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())

  const { headers, body } = await app.inject(get())

  assert.equal(body, header)
  assert.equal(headers['x-total-rows'], '0')
  assert.ok(!('x-complete-through' in headers))
})

test('who may not ask is refused before what does not exist, and that before what is wrong', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const broken = 'startDate=x'
  const missing = '/v2/advertisers/999/reports/traffic-quality.csv'

  const statuses = await Promise.all(
    [
      get(broken, 'unknown'),
      get(broken, 'K2'),
      get(broken, 'metrics'),
      get(broken, 'K1', missing),
      get(broken, 'all', missing),
      get(broken, 'all'),
    ].map(async (call) => (await app.inject(call)).statusCode)
  )

  assert.deepEqual(statuses, [401, 403, 403, 403, 404, 422])
})

const badRanges: readonly (readonly [query: string, messages: readonly string[]])[] = [
  ['', ['startDate is required', 'endDate is required']],
  [
    'startDate=2026-02-30&endDate=x',
    ['startDate must be a date such as 2026-03-01', 'endDate must be a date such as 2026-03-01'],
  ],
  ['startDate=2026-03-02&endDate=2026-03-01', ['startDate must not be after endDate']],
  [
    'startDate=2024-01-01&endDate=2026-01-01',
    ['endDate must be at most 731 days from startDate, both included'],
  ],
]
for (const [query, messages] of badRanges) {
  test(`a range of "${query}" is refused with the rule it breaks`, async (t) => {
    const { app } = startHarness()
    t.after(() => app.close())

    const response = await app.inject(get(query))

    assert.equal(response.statusCode, 422)
    assert.deepEqual(response.json(), { messages })
  })
}

test('731 days are the longest range, and days beyond those of events ask for no more', async (t) => {
  const calls: TrafficQualityCall[] = []
  const { app } = startHarness({
    readTrafficQuality: (call) => {
      calls.push(call)
      return Promise.resolve({ totalRows: 0, completeThrough: null, unconvertedCount: 0, rows: [] })
    },
  })
  t.after(() => app.close())

  const longest = await app.inject(get('startDate=2024-01-01&endDate=2025-12-31'))
  const ancient = await app.inject(get('startDate=0001-01-01&endDate=0001-01-02'))

  assert.deepEqual([longest.statusCode, ancient.statusCode], [200, 200])
  assert.deepEqual(
    calls.map(({ request }) => [request.startDate, request.endDate]),
    [
      ['2024-01-01', '2025-12-31'],
      ['2019-12-01', '2019-12-01'],
    ]
  )
})

test('it shares the slots of a key with reports and gives its slot back when it fails', async (t) => {
  let isBroken = true
  const { app } = startHarness({
    reportsPerKeyMax: 1,
    readTrafficQuality: () =>
      isBroken
        ? Promise.reject(new Error('broken'))
        : Promise.resolve({ totalRows: 0, completeThrough: null, unconvertedCount: 0, rows: [] }),
  })
  t.after(() => app.close())

  const failed = await app.inject(get())
  isBroken = false
  const first = await app.inject(get())
  const second = await app.inject(get())

  assert.deepEqual([failed.statusCode, first.statusCode, second.statusCode], [500, 200, 200])
})
