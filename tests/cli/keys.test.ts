import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerBy, answerWith, received, run, useCliServer } from './harness.ts'

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

test('keys revoke says since when no delivery counts by the key, which may be an earlier instant than the given one', async () => {
  const parties = { advertisers: [1], publishers: [10] }
  const key = {
    id: 'key_1',
    name: 'n',
    createdAt: '2026-01-01T00:00:00.000Z',
    scopes: [],
    ...parties,
  }
  const listed = (compromisedSince?: string) => ({
    keys: [{ ...key, ...(compromisedSince !== undefined && { compromisedSince }) }],
  })
  const revoke = async (since: string, ...inForce: readonly string[]) => {
    const replies = [
      { status: 204, json: undefined },
      { status: 200, json: listed(...inForce) },
    ]
    answerBy(() => replies.shift() ?? { status: 500, json: {} })
    return await run(['keys', 'revoke', 'key_1', '--compromised-since', since])
  }
  const since = '2026-03-01T00:00:00Z'
  const counts = 'No delivery counts by it that was received since'

  const same = await revoke(since, '2026-03-01T00:00:00.000Z')
  const earlier = await revoke(since, '2026-01-01T00:00:00.000Z')
  const after = await revoke(since)
  const replies = [204, 503]
  answerBy(() => ({ status: replies.shift() ?? 500, json: { messages: ['Later.'] } }))
  const untold = await run(['keys', 'revoke', 'key_1', '--compromised-since', since])
  const bad = await run(['keys', 'revoke', 'key_1', '--compromised-since', 'yesterday'])

  assert.equal(received[0]?.url, '/admin/v1/keys/key_1?compromisedSince=2026-03-01T00%3A00%3A00Z')
  assert.equal(same.stdout, `key_1 is revoked. ${counts} 2026-03-01T00:00:00.000Z.\n`)
  assert.equal(
    earlier.stdout,
    `key_1 is revoked. ${counts} 2026-01-01T00:00:00.000Z, as was told before: that instant can only be moved back.\n`
  )
  assert.equal(
    after.stdout,
    'key_1 is revoked. Deliveries by it count that were received before it was revoked.\n'
  )
  assert.equal(untold.exitCode, 1)
  assert.match(untold.stderr, /^shelftrace: key_1 is revoked\. Since when .* could not be read\./u)
  assert.match(bad.stderr, /--compromised-since must be an instant such as/)
})

test('keys invite prints the whole link, below any path of the address, and says that it works once', async () => {
  const made = {
    id: 'key_1',
    code: 'st_code',
    address: '#/invitation/st_code',
    expiresAt: '2026-03-04T00:00:00.000Z',
  }
  answerWith(201, made)
  const argv = ['keys', 'invite', '--name', 'Anna', '--advertisers', '1', '--scopes', 'report:read']

  const { stdout, exitCode } = await run([...argv, '--valid-for-hours', '24'])
  const json = await run([...argv, '--json'])
  const short = await run([...argv, '--valid-for-hours', '0'])
  const long = await run([...argv, '--valid-for-hours', '721'])

  assert.equal(exitCode, 0)
  assert.equal(received[0]?.url, '/admin/v1/invitations')
  assert.deepEqual(
    received.map(({ body }): unknown => JSON.parse(body)),
    [
      { name: 'Anna', scopes: ['report:read'], advertisers: [1], validForHours: 24 },
      { name: 'Anna', scopes: ['report:read'], advertisers: [1] },
    ]
  )
  assert.match(stdout, /^link {8}http:\/\/127\.0\.0\.1:\d+\/#\/invitation\/st_code$/m)
  assert.match(stdout, /works once and is not shown again/)
  assert.match(json.stdout, /"link": "http:.*#\/invitation\/st_code"/)
  for (const refused of [short, long]) {
    assert.equal(refused.exitCode, 2)
    assert.match(refused.stderr, /--valid-for-hours must be a whole number from 1 to 720/)
  }
})
