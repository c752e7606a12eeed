import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerText, answerWith, received, run, useCliServer } from './harness.ts'

useCliServer()

test('keys create for one publisher needs no name', async () => {
  answerWith(201, { id: 'key_1', key: 'st_new' })
  const argv = ['keys', 'create', '--scopes', 'delivery:write,intake:read']

  await run([...argv, '--publisher', '10'])
  await run([...argv, '--publisher', '10', '--name', 'Shop'])
  const both = await run([...argv, '--publisher', '10', '--publishers', '11'])
  const list = await run([...argv, '--publisher', '10,11'])
  const nameless = await run([...argv, '--publishers', '10'])

  const scopes = ['delivery:write', 'intake:read']
  assert.deepEqual(
    received.map(({ body }): unknown => JSON.parse(body)),
    [
      { name: 'Publisher 10', scopes, publishers: [10] },
      { name: 'Shop', scopes, publishers: [10] },
    ]
  )
  assert.match(both.stderr, /--publisher and --publishers cannot be used together/)
  assert.match(list.stderr, /--publisher must be the id of a publisher, such as 10/)
  assert.match(nameless.stderr, /--name is required/)
})

test('keys revoke says since when the key was compromised, as an instant', async () => {
  answerText(204, '')
  const since = '2026-03-01T00:00:00Z'

  const { stdout } = await run(['keys', 'revoke', 'key_1', '--compromised-since', since])
  const bad = await run(['keys', 'revoke', 'key_1', '--compromised-since', 'yesterday'])

  assert.deepEqual(
    received.map((one) => one.url),
    ['/admin/v1/keys/key_1?compromisedSince=2026-03-01T00%3A00%3A00Z']
  )
  assert.equal(
    stdout,
    `key_1 is revoked. No delivery counts by it that was received since ${since}.\n`
  )
  assert.match(bad.stderr, /--compromised-since must be an instant such as/)
})
