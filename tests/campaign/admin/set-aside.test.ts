import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminKey, bearer, startAdmin } from './harness.ts'
import type { AdminHarness } from './harness.ts'
import { placement } from '../../helpers/placement.ts'

const listPath = '/admin/v1/set-aside'
const replayPath = '/admin/v1/set-aside/replay'
const lineBase = { set_aside_at: '2026-03-01 00:00:00.000001', reason: 'Code: 6. "secret"' }

let admin: AdminHarness

before(async () => {
  admin = await startAdmin()
  const token = admin.mintAd({
    ...placement,
    gtin: '4006381333931',
    groupId: '',
    userId: 'u1',
    userLoggedInId: '',
    currency: 'EUR',
    costPerClickMicros: 0n,
    costPerMilleMicros: 0n,
    landingUrl: '',
  }).trackingData
  const event = {
    type: 'ad-event',
    kind: 'click',
    receivedAtMs: Date.UTC(2026, 2, 2, 10),
    trackingData: token,
    userAgent: '',
    isPrefetch: false,
  }
  const rows = [
    { ...lineBase, key: 'aa'.repeat(16), record: JSON.stringify(event) },
    { ...lineBase, key: 'bb'.repeat(16), record: Buffer.from('damaged').toString('base64') },
  ].map((row) => JSON.stringify(row))
  await admin.warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))
})

after(async () => {
  await admin.close()
})

async function replay(body: unknown, key = adminKey) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  return await admin.app.inject({
    method: 'POST',
    url: replayPath,
    headers: { ...bearer(key), 'content-type': 'application/json' },
    payload,
  })
}

test('the list shows no more of a record than its key, kind, instants and the beginning of the reason', async () => {
  const answer = await admin.app.inject({ url: `${listPath}?limit=1`, headers: bearer(adminKey) })

  assert.equal(answer.statusCode, 200)
  assert.deepEqual(answer.json(), {
    records: [
      {
        key: 'aa'.repeat(16),
        setAsideAt: '2026-03-01T00:00:00.000Z',
        type: 'ad-event',
        receivedAt: '2026-03-02T10:00:00.000Z',
        reason: 'Code: 6.',
      },
    ],
    next: `1772323200000001.${'aa'.repeat(16)}`,
  })
})

test('the next of a page leads to the rest', async () => {
  const url = `${listPath}?limit=1&after=1772323200000001.${'aa'.repeat(16)}`
  const answer = await admin.app.inject({ url, headers: bearer(adminKey) })

  assert.deepEqual(answer.json<{ records: { type: string }[] }>().records[0]?.type, 'frame')
  assert.equal(answer.json<{ next?: string }>().next, undefined)
})

test('a key without the scope neither lists nor replays', async () => {
  const key = await admin.keyOf({ name: 'n', scopes: ['report:read'] })

  const list = await admin.app.inject({ url: listPath, headers: bearer(key) })

  assert.equal(list.statusCode, 403)
  assert.equal((await replay({ all: true }, key)).statusCode, 403)
})

test('queries and bodies that break a rule are refused with the rule', async () => {
  for (const query of ['after=x', 'after=1.', 'limit=0', 'limit=1&limit=2']) {
    const answer = await admin.app.inject({
      url: `${listPath}?${query}`,
      headers: bearer(adminKey),
    })
    assert.equal(answer.statusCode, 422, query)
  }
  const bodies = [
    {},
    { all: false },
    { keys: [] },
    { keys: ['a'], all: true },
    { keys: 'a' },
    { keys: [''] },
    { keys: ['a'.repeat(65)] },
    { keys: Array.from({ length: 1_001 }, (_, index) => `k${index}`) },
    '{',
    '',
  ]
  for (const body of bodies) {
    assert.equal((await replay(body)).statusCode, 422, JSON.stringify(body).slice(0, 40))
  }
})

test('a replay ships what can be shipped, says what waits on, and is audited', async () => {
  const answer = await replay({ all: true })

  assert.equal(answer.statusCode, 200)
  assert.deepEqual(answer.json(), { replayed: 1, setAsideAgain: 1, unknown: 0, remaining: 1 })
  const [events] = await admin.warehouse.rows('SELECT count() AS n FROM ad_event FINAL')
  assert.deepEqual(events, { n: 1 })
  const audit = (await admin.audits()).find(({ action }) => action === 'set-aside.replay')
  assert.equal(audit?.subject, '1 records')
  assert.deepEqual(JSON.parse(audit?.details ?? ''), {
    keys: 'all',
    replayed: 1,
    setAsideAgain: 1,
    unknown: 0,
  })
})
