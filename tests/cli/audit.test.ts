import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

test('audit prints a page with the cursor of the next one, and hands its options on', async () => {
  const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
  const record = {
    at: '2026-03-01T00:00:00.000001Z',
    id: 'x',
    keyId: 'key_1',
    keyName: 'Ada',
    action: 'key.create',
    subject: 'key_2',
    details: { name: '\u001b[31mred' },
  }
  answerWith(200, { records: [record, { ...record, keyName: '' }], next: '17.abc' })

  const range = ['--from', '2026-03-01T00:00:00+01:00', '--to', '2026-04-01T00:00:00Z']
  const rest = [
    '--action',
    'key.create',
    '--key-id',
    'key_1',
    '--limit',
    '2',
    '--after',
    `16.${id}`,
  ]
  const { exitCode, stdout } = await run(['audit', ...range, ...rest])
  answerWith(200, { records: [] })
  const empty = await run(['audit', '--json'])

  assert.equal(exitCode, 0)
  assert.equal(
    received[0]?.url,
    '/admin/v1/audit?from=2026-03-01T00%3A00%3A00%2B01%3A00&to=2026-04-01T00%3A00%3A00Z' +
      '&action=key.create&keyId=key_1&after=16.' +
      `${id}&limit=2`
  )
  assert.match(stdout, /^AT +KEY NAME +KEY ID +ACTION +SUBJECT +DETAILS\n/)
  assert.match(stdout, /Ada +key_1 +key\.create +key_2 +\{"name":/)
  assert.ok(stdout.endsWith('\nMore: --after 17.abc\n') && !stdout.includes('\u001b'))
  assert.equal(received[1]?.url, '/admin/v1/audit')
  assert.deepEqual(JSON.parse(empty.stdout), { records: [] })
})

test('audit refuses an option that the server would refuse, before asking it', async () => {
  for (const [option, value] of [
    ['--from', '2026-03-01'],
    ['--to', 'now'],
    ['--limit', '0'],
    ['--limit', '1001'],
    ['--after', ' '],
  ] as const) {
    const { exitCode, stderr } = await run(['audit', option, value])
    assert.equal(exitCode, 2)
    assert.ok(stderr.includes(`${option} must be `), stderr)
  }
  assert.equal(received.length, 0)
})
