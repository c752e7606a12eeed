import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Judgement, JudgementPage } from '../../../src/contract/judgements.ts'
import { adminKey, bearer, bundle, startAdmin } from './harness.ts'
import type { AdminHarness } from './harness.ts'

const path = '/admin/v1/judgements'
const body = {
  publisherId: 10,
  from: '2026-03-01T00:00:00Z',
  to: '2026-03-03T12:00:00+01:00',
  reason: 'the key leaked',
}

let admin: AdminHarness
before(async () => {
  admin = await startAdmin()
  const [shop, ...others] = bundle.publishers
  const publishers = [{ ...shop, requireKey: true, conversionSources: ['192.0.2.0/24'] }, ...others]
  await admin.call('PUT', '/admin/v1/catalog', { ...bundle, publishers })
})
after(() => admin.close())

test('a request is answered with the policy it pins, its progress can be read, and it is audited', async () => {
  await admin.keyOf({ advertisers: [], publishers: [10], scopes: ['delivery:write'] })
  await admin.keyOf({ advertisers: [], publishers: [20], scopes: ['delivery:write'] })

  const { status, json } = await admin.call('POST', path, { ...body, dryRun: true })
  const judgement = json as Judgement
  const read = await admin.call('GET', `${path}/${judgement.id}`)
  const list = await admin.call('GET', `${path}?limit=1`)

  assert.equal(status, 202)
  assert.deepEqual(
    [judgement.state, judgement.dryRun, judgement.scan, judgement.partsDone, judgement.parts],
    ['judging', true, 1, 0, 4]
  )
  assert.equal(judgement.to, '2026-03-03T11:00:00.000Z')
  assert.deepEqual(judgement.policy, {
    conversionSources: ['192.0.2.0/24'],
    requireKey: true,
    keys: 1,
  })
  assert.deepEqual(read.json, judgement)
  assert.deepEqual((list.json as JudgementPage).judgements, [judgement])
  const audit = (await admin.audits()).find(({ action }) => action === 'judgement.request')
  assert.equal(audit?.subject, judgement.id)
  assert.equal(JSON.parse(audit?.details ?? '').reason, body.reason)
})

test('requests that break a rule are refused with the rule', async () => {
  const bodies: readonly (readonly [changes: Record<string, unknown>, message: RegExp])[] = [
    [{ publisherId: 0 }, /publisherId/],
    [{ from: body.to, to: body.from }, /\/from must be before \/to/],
    [{ from: body.to }, /\/from must be before \/to/],
    [{ from: '2025-01-01T00:00:00Z' }, /at most 400 days/],
    [{ from: '2026-03-01' }, /from/],
    [{ reason: ' ' }, /\/reason must say why/],
    [{ assume: 'nothing' }, /assume/],
    [{ policy: {} }, /policy/],
  ]
  for (const [changes, message] of bodies) {
    const answer = await admin.call('POST', path, { ...body, ...changes })
    assert.equal(answer.status, 422, JSON.stringify(changes))
    assert.match(JSON.stringify(answer.json), message)
  }
})

test('nothing is known of a judgement that was never requested, and a key without the scope is refused', async () => {
  assert.equal((await admin.call('GET', `${path}/none`)).status, 404)
  const key = await admin.keyOf({ publishers: [10], advertisers: [], scopes: ['intake:read'] })
  const answer = await admin.app.inject({
    method: 'POST',
    url: path,
    headers: bearer(key),
    payload: body,
  })
  assert.equal(answer.statusCode, 403)
})

test('more judgements than may be open are refused until some are done', async () => {
  await admin.warehouse.command(
    'INSERT INTO judgement (id, stage) SELECT toString(number), 1 FROM numbers(100)'
  )

  const answer = await admin.app.inject({
    method: 'POST',
    url: path,
    headers: bearer(adminKey),
    payload: body,
  })

  assert.equal(answer.statusCode, 429)
  assert.equal(answer.headers['retry-after'], '60')
})
