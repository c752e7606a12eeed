import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readSealedThrough } from '../../../src/days/sealed-days.ts'
import { sealBatch } from '../../../src/days/seal.ts'
import { createHistoryLoader } from '../../helpers/history-warehouse.ts'
import { aClick, anAd } from '../../helpers/seal-scenario.ts'
import { adminKey, bundle, startAdmin, type AdminHarness } from './harness.ts'

let harness: AdminHarness
before(async () => {
  harness = await startAdmin()
  await harness.app.inject({
    method: 'PUT',
    url: '/admin/v1/catalog',
    headers: { authorization: `Bearer ${adminKey}` },
    payload: JSON.stringify(bundle),
  })
})
after(() => harness.close())

const storedRates = () =>
  harness.warehouse.rows<{ line: string }>(
    `SELECT concat(currency, ' ', toString(day), ' ', toString(units_per_euro)) AS line
     FROM rate FINAL ORDER BY currency, day`
  )

test('rates of both files of the central bank are stored, and a later load corrects an earlier one', async () => {
  const daily = await harness.call(
    'PUT',
    '/admin/v1/rates',
    '\uFEFFDate, USD, JPY, \n2 March 2026, 1.1684, 186.75, \n'
  )
  const historic = await harness.call(
    'PUT',
    '/admin/v1/rates',
    '"Date","USD",JPY,EEK,\r\n2026-03-03,"1.17",N/A,N/A,\r\n2026-03-02,1.2,,N/A,\r\n'
  )

  assert.deepEqual(daily, {
    status: 200,
    json: { days: 1, rates: 2, firstDay: '2026-03-02', lastDay: '2026-03-02' },
  })
  assert.deepEqual(historic.json, {
    days: 2,
    rates: 2,
    firstDay: '2026-03-02',
    lastDay: '2026-03-03',
  })
  assert.deepEqual(
    (await storedRates()).map(({ line }) => line),
    ['JPY 2026-03-02 186.75', 'USD 2026-03-02 1.2', 'USD 2026-03-03 1.17']
  )
})

for (const [what, file, messages] of [
  ['nothing', '', ['the file must begin with a header line: Date and currencies']],
  [
    'cells between semicolons, with decimal commas',
    'Date;USD\n2026-03-02;1,2\n',
    [
      'line 1: the cells must stand between commas, and a rate have a decimal point: here they stand between ";"',
    ],
  ],
  ['no header', '2026-03-02,1\n', ['line 1: the first column must be Date']],
  [
    'every broken line, and none is stored',
    'Date,USD\n2026-02-09,1\n2026-02-10,x\n2026-02-09,2\n2026-02-11\n',
    [
      'line 3: USD must be a positive decimal of at most 9 digits behind the point',
      'line 4: repeats the day of a line before',
      'line 5: must have 2 cells as the header has, not 1',
    ],
  ],
  // The clock of these tests stands at 2026-03-02T10:00:00Z.
  [
    'a day after tomorrow',
    'Date,USD\n2026-03-03,1\n2026-03-04,1\n2099-01-02,1\n',
    [3, 4].map((line) => `line ${line}: the date must not lie in the future: at most 2026-03-03`),
  ],
  [
    'no currency',
    'Date,USD,ABC\n2026-03-02,1,2\n',
    ['line 1: ABC must be an ISO 4217 currency code'],
  ],
  [
    'a line over 1 MiB',
    `Date,USD\n2026-02-09,${'1'.repeat(1_100_000)}\n`,
    ['line 2: is longer than 1 MiB'],
  ],
] as const) {
  test(`a file of rates with faults is refused whole with their lines: ${what}`, async () => {
    const stored = await storedRates()

    const refused = await harness.call('PUT', '/admin/v1/rates', file)

    assert.deepEqual(refused, { status: 422, json: { messages } })
    assert.deepEqual(await storedRates(), stored)
  })
}

for (const [body, message] of [
  ['{}', '/startDate is required'],
  ['{"startDate":"2026-03-02","endDate":"2026-03-01"}', '/startDate must not be after /endDate'],
  [
    '{"startDate":"2025-01-01","endDate":"2026-03-01"}',
    '/endDate must be at most 400 days from /startDate, both included',
  ],
  [
    '{"startDate":"0001-01-01","endDate":"0001-01-02"}',
    '/startDate and /endDate must lie between 2020-01-01 and 2100-12-31',
  ],
  ['{"startDate":"2026-02-30","endDate":"2026-03-01"}', '/startDate must be a date'],
] as const) {
  test(`a rebuild of ${body} is refused by its rule`, async () => {
    const { status, json } = await harness.call('POST', '/admin/v1/rebuilds', body)

    assert.equal(status, 422)
    assert.ok(String(json['messages']).includes(message), String(json['messages']))
  })
}

test('a client hears of a day when it is sealed and again when it was rebuilt, with another revision', async () => {
  const atMs = Date.UTC(2026, 2, 2, 12)
  await createHistoryLoader(harness.warehouse, 0).ship([aClick(anAd({ servedAtMs: atMs }), atMs)])
  const markets = bundle.markets.slice(0, 1)
  const sealOnce = () =>
    sealBatch({
      warehouse: harness.warehouse,
      markets: () => markets,
      settledThroughMs: () => Date.UTC(2026, 2, 3, 6),
      renewPauseMs: 0,
    })
  // Days without a seal come first, and the days around a rebuild are among them.
  const seal = async () => {
    for (let round = 0; round < 3; round++) await sealOnce()
  }
  const listed = async () => {
    const { json } = await harness.call(
      'GET',
      '/v2/advertisers/1/reports/spa/days?since=2026-01-01T00:00:00Z'
    )
    // The harness checks what it reads by comparing it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const days = json['days'] as {
      day: string
      market: string | null
      revision: string
      sealedAt: string
    }[]
    return days.filter(({ day }) => day === '2026-03-02')
  }

  await seal()
  const first = await listed()
  const rebuild = await harness.call(
    'POST',
    '/admin/v1/rebuilds',
    '{"startDate":"2026-03-02","endDate":"2026-03-02"}'
  )
  await seal()
  const second = await listed()

  assert.deepEqual(rebuild, { status: 202, json: { purchases: 0 } })
  assert.deepEqual(
    [first, second].map((days) => days.map(({ market }) => market)),
    [['DE'], ['DE']]
  )
  assert.notEqual(second[0]?.revision, first[0]?.revision)
  const future = await harness.call(
    'GET',
    '/v2/advertisers/1/reports/spa/days?since=2099-01-01T00:00:00Z'
  )
  assert.deepEqual(future.json, { days: [], hasMore: false })
  assert.deepEqual(await readSealedThrough(harness.warehouse, markets, '2026-03-03'), [
    { marketId: 1, completeThrough: '2026-03-02', openFrom: '2026-03-03' },
  ])
})

for (const [query, message] of [
  ['since=yesterday', 'since must be an instant such as 2026-03-01T00:00:00Z'],
  ['since=2026-03-01T00:00:00Z&since=2026-03-01T00:00:00Z', 'since must be given once'],
] as const) {
  test(`the list of sealed days refuses ?${query}`, async () => {
    const { status, json } = await harness.call(
      'GET',
      `/v2/advertisers/1/reports/spa/days?${query}`
    )

    assert.deepEqual([status, json], [422, { messages: [message] }])
  })
}

const rebuildFrom = (startDate: string) =>
  harness.call('POST', '/admin/v1/rebuilds', JSON.stringify({ startDate, endDate: '2024-06-02' }))

test('a rebuild that reaches days that are final is refused with the first day that is left', async () => {
  await harness.warehouse.command(
    `INSERT INTO final_before SELECT toDate('2024-06-01'), 'announced', now64(6)`
  )
  const reaching = await rebuildFrom('2024-05-31')
  const first = await rebuildFrom('2024-06-01')

  assert.deepEqual(reaching, {
    status: 422,
    json: {
      messages: [
        '/startDate must not be before 2024-06-01: older days are final, their events are dropped',
      ],
    },
  })
  assert.equal(first.status, 202)
})
