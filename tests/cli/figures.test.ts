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
