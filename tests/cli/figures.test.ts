import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerWith, fileOf, received, run, useCliServer } from './harness.ts'

useCliServer()

test('rates are sent as they stand in the file, and the days that were stored are told', async () => {
  answerWith(200, { days: 2, rates: 60, firstDay: '2026-03-02', lastDay: '2026-03-03' })

  const { exitCode, stdout } = await run(['rates', 'load', await fileOf('Date, USD, \n')])

  assert.equal(exitCode, 0)
  assert.match(stdout, /60 rates of 2 days stored, 2026-03-02 to 2026-03-03\./)
  assert.deepEqual(
    [received[0]?.method, received[0]?.url, received[0]?.body],
    ['PUT', '/admin/v1/rates', 'Date, USD, \n']
  )
})

test('a rebuild names its days, and both are asked for', async () => {
  answerWith(202, { purchases: 7 })

  const done = await run(['rebuild', '--from', '2026-03-01', '--to', '2026-03-02'])
  const missing = await run(['rebuild', '--from', '2026-03-01'])

  assert.equal(done.exitCode, 0)
  assert.match(done.stdout, /7 purchases/)
  assert.equal(received[0]?.body, '{"startDate":"2026-03-01","endDate":"2026-03-02"}')
  assert.notEqual(missing.exitCode, 0)
  assert.match(missing.stderr, /--to must be a day/)
})

test('amounts without a rate are listed as a table with the cursor of the next page', async () => {
  const row = {
    date: '2026-03-02',
    marketId: 1,
    market: 'DE',
    advertiserId: 7,
    currency: 'USD',
    impressions: 0,
    clicks: 3,
    spend: '0.75',
    lines: 1,
    value: '20',
  }
  answerWith(200, {
    rows: [row, { ...row, market: null, marketId: 9 }],
    next: '2026-03-02_9_7_USD',
  })

  const range = ['--from', '2026-03-01', '--to', '2026-03-31']
  const { exitCode, stdout } = await run(['rates', 'missing', ...range, '--limit', '2'])
  answerWith(200, { rows: [] })
  const none = await run(['rates', 'missing', ...range, '--after', '2026-03-02_9_7_USD'])
  const half = await run(['rates', 'missing', '--from', '2026-03-01'])

  assert.equal(exitCode, 0)
  assert.match(
    stdout,
    /^DATE +MARKET ID +MARKET +ADVERTISER ID +CURRENCY +IMPRESSIONS +CLICKS +SPEND +LINES +VALUE\n/
  )
  assert.match(stdout, /2026-03-02 +1 +DE +7 +USD +0 +3 +0\.75 +1 +20\n/)
  assert.match(stdout, /2026-03-02 +9 +- +7 +USD/)
  assert.ok(stdout.endsWith('\nMore: --after 2026-03-02_9_7_USD\n'))
  assert.equal(none.stdout, 'Every amount has a rate.\n')
  assert.deepEqual(
    received.map(({ url }) => url),
    [
      '/admin/v1/unconverted?startDate=2026-03-01&endDate=2026-03-31&limit=2',
      '/admin/v1/unconverted?startDate=2026-03-01&endDate=2026-03-31&after=2026-03-02_9_7_USD',
    ]
  )
  assert.match(half.stderr, /--to is required/)
})
