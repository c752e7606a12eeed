import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../src/campaign/admission.ts'
import { ServiceError } from '../../src/errors.ts'
import { bearer, startHarness, type Harness } from './harness.ts'

const url = '/v2/advertisers/1/eligible/site-locations?publisherId=10&marketId=1'
const { refusedKeysPerMinuteMax } = limits

async function get(
  { app }: Harness,
  key: string | null,
  from: { readonly remoteAddress?: string; readonly forwardedFor?: string } = {}
) {
  const { remoteAddress = '198.51.100.1', forwardedFor } = from
  const headers = {
    ...(key !== null && bearer(key)),
    ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
  }
  return await app.inject({ url, headers, remoteAddress })
}

/** Statuses of one request more than an address may have refused in a minute. */
async function flood(harness: Harness, from: Parameters<typeof get>[2] = {}) {
  const statuses: number[] = []
  for (let count = 0; count <= refusedKeysPerMinuteMax; count += 1) {
    statuses.push((await get(harness, `wrong-${count}`, from)).statusCode)
  }
  return statuses
}

test('a flood of wrong keys is answered 429 beyond its limit, with the time to wait', async (t) => {
  let nowMs = 0
  const harness = startHarness({ clock: () => nowMs })
  t.after(() => harness.app.close())

  const statuses = await flood(harness)
  const refused = await get(harness, 'wrong')
  nowMs += Number(refused.headers['retry-after']) * 1_000
  const later = await get(harness, 'wrong')

  assert.deepEqual(new Set(statuses.slice(0, -1)), new Set([401]))
  assert.equal(statuses.at(-1), 429)
  assert.deepEqual(refused.json(), {
    messages: ['Too many requests without a valid key came from this address.'],
  })
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(refused.headers['www-authenticate'], undefined)
  assert.equal(later.statusCode, 401)
})

test('requests without any key are limited like those with a wrong one', async (t) => {
  const harness = startHarness()
  t.after(() => harness.app.close())
  await flood(harness)

  assert.equal((await get(harness, null)).statusCode, 429)
})

test('a flood shuts no right key out, neither from elsewhere nor from the same address', async (t) => {
  const harness = startHarness()
  t.after(() => harness.app.close())
  await flood(harness)

  for (const remoteAddress of ['198.51.100.1', '198.51.100.2']) {
    assert.equal((await get(harness, 'K1', { remoteAddress })).statusCode, 200)
  }
  assert.equal((await get(harness, 'wrong', { remoteAddress: '198.51.100.2' })).statusCode, 401)
})

test('an IPv6 sender has one limit for all addresses of its /64', async (t) => {
  const harness = startHarness()
  t.after(() => harness.app.close())
  await flood(harness, { remoteAddress: '2001:db8:0:1::1' })

  const same = await get(harness, 'wrong', { remoteAddress: '2001:db8:0:1:ffff::2' })
  const other = await get(harness, 'wrong', { remoteAddress: '2001:db8:0:2::1' })

  assert.deepEqual([same.statusCode, other.statusCode], [429, 401])
})

test('behind a trusted proxy the sender is who the proxy says, else the header is nothing', async (t) => {
  const direct = startHarness()
  const proxied = startHarness({ trustProxy: true })
  t.after(() => Promise.all([direct.app.close(), proxied.app.close()]))
  await flood(direct, { forwardedFor: '203.0.113.1' })
  await flood(proxied, { forwardedFor: '10.9.9.9, 203.0.113.1' })

  const other = { forwardedFor: '203.0.113.1, 203.0.113.2' }
  assert.equal((await get(direct, 'wrong', other)).statusCode, 429)
  assert.equal((await get(proxied, 'wrong', other)).statusCode, 401)
  const same = { forwardedFor: 'spoofed, 203.0.113.1' }
  assert.equal((await get(proxied, 'wrong', same)).statusCode, 429)
})

test('keys that cannot be checked are nobody’s fault and count against no address', async (t) => {
  let isStale = true
  const harness = startHarness({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: () => {
        if (isStale) throw new ServiceError('ACCESS_STALE', 'old')
        return null
      },
    },
  })
  t.after(() => harness.app.close())
  const statuses = await flood(harness)
  isStale = false

  assert.deepEqual(new Set(statuses), new Set([503]))
  assert.equal((await get(harness, 'wrong')).statusCode, 401)
})

function quotaOf({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) {
  return ['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`])
}

test('the headers tell limit, rest and seconds until the whole quota is back, on refusals too', async (t) => {
  let nowMs = 0
  const harness = startHarness({ clock: () => nowMs, requestsPerMinuteMax: 2 })
  t.after(() => harness.app.close())

  const answers = [await get(harness, 'K1'), await get(harness, 'K1'), await get(harness, 'K1')]
  nowMs += 30_000
  const later = await get(harness, 'K1')

  assert.deepEqual(
    [...answers, later].map(({ statusCode }) => statusCode),
    [200, 200, 429, 200]
  )
  assert.deepEqual(quotaOf(answers[0] ?? later), ['2', '1', '30'])
  assert.deepEqual(quotaOf(answers[1] ?? later), ['2', '0', '60'])
  assert.deepEqual(quotaOf(answers[2] ?? later), ['2', '0', '60'])
  assert.deepEqual(answers[2]?.json(), { messages: ['A key may send 2 requests a minute.'] })
  assert.equal(answers[2]?.headers['retry-after'], '30')
})

test('a call that the key may not make counts against its rate and tells so', async (t) => {
  const harness = startHarness({ requestsPerMinuteMax: 5 })
  t.after(() => harness.app.close())

  const { statusCode, headers } = await get(harness, 'metrics')

  assert.deepEqual([statusCode, headers['ratelimit-remaining']], [403, '4'])
})
