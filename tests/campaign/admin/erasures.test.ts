import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ErasurePage, RequestedErasure } from '../../../src/contract/erasures.ts'
import { findText } from '../../helpers/find-text.ts'
import { createHistoryLoader } from '../../helpers/history-warehouse.ts'
import { aClick, aPurchase, anAd } from '../../helpers/seal-scenario.ts'
import { adminKey, bearer, nowMs, startAdmin } from './harness.ts'
import type { AdminHarness } from './harness.ts'

const path = '/admin/v1/erasures'
const userId = 'raw-user-canary-0123456789'
const userLoggedInId = 'raw-login-canary-0123456789'

let admin: AdminHarness
before(async () => {
  admin = await startAdmin()
})
after(async () => {
  await admin.close()
})

async function post(body: unknown, key = adminKey) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { ...bearer(key), 'content-type': 'application/json' }
  return await admin.app.inject({ method: 'POST', url: path, headers, payload })
}

async function get(url: string, key = adminKey) {
  return await admin.app.inject({ url, headers: bearer(key) })
}

test('a request is answered with an id that tells its state, and audited without the person', async () => {
  const answer = await post({ publisherId: 10, userId, userLoggedInId })

  assert.equal(answer.statusCode, 202)
  const { notStored: unknown, ...erasure } = answer.json<RequestedErasure>()
  assert.deepEqual(unknown, ['userId', 'userLoggedInId'])
  assert.equal(erasure.state, 'requested')
  assert.deepEqual((await get(`${path}/${erasure.id}`)).json(), erasure)
  assert.deepEqual((await get(`${path}?limit=1`)).json<ErasurePage>(), { erasures: [erasure] })
  const audit = (await admin.audits()).find(({ action }) => action === 'erasure.request')
  assert.equal(audit?.subject, erasure.id)
  assert.deepEqual(JSON.parse(audit?.details ?? ''), { publisherId: 10, ids: 2 })
})

async function notStored(body: object) {
  return (await post({ publisherId: 10, ...body })).json<RequestedErasure>().notStored
}

test('an answer names the ids of a request under which nothing is stored, of this publisher', async () => {
  const loader = createHistoryLoader(admin.warehouse, 0)
  const clicked = aClick(anAd({ servedAtMs: nowMs, userId: 'clicked' }), nowMs)
  const bought = { ...aPurchase({ atMs: nowMs }), userId: 'bought', userLoggedInId: 'bought' }
  await loader.ship([clicked, bought])

  assert.deepEqual(await notStored({ userId: 'clicked' }), [])
  assert.deepEqual(await notStored({ userId: 'bought', userLoggedInId: 'bought' }), [])
  assert.deepEqual(await notStored({ userId: 'clicked', userLoggedInId: 'clicked' }), [
    'userLoggedInId',
  ])
  assert.deepEqual(await notStored({ userId: '"clicked"' }), ['userId'])
  assert.deepEqual(await notStored({ publisherId: 11, userId: 'clicked' }), ['userId'])
})

test('requests that break a rule are refused with the rule and never with the id', async () => {
  const bodies: readonly (readonly [body: unknown, message: RegExp])[] = [
    [{ publisherId: 10 }, /userId, userLoggedInId or both/],
    [{ userId }, /publisherId/],
    [{ publisherId: 0, userId }, /publisherId/],
    [{ publisherId: 10, userId: '' }, /userId/],
    [{ publisherId: 10, userId: ' Anonymous ' }, /\/userId must name somebody/],
    [{ publisherId: 10, userId, userLoggedInId: '0' }, /\/userLoggedInId must name somebody/],
    [{ publisherId: 10, userId: userId.repeat(5) }, /userId/],
    [{ publisherId: 10, userId: [userId] }, /userId/],
    [`{"${userId}`, /./],
    ['', /./],
  ]
  for (const [body, message] of bodies) {
    const answer = await post(body)
    assert.equal(answer.statusCode, 422, JSON.stringify(body))
    assert.match(answer.body, message)
    assert.ok(!answer.body.includes(userId), answer.body)
  }
  assert.equal((await get(`${path}?limit=0`)).statusCode, 422)
})

test('a key without the scope neither asks for erasures nor sees them, and an unknown id is not found', async () => {
  const key = await admin.keyOf({ scopes: ['events:write'] })

  assert.equal((await post({ publisherId: 10, userId }, key)).statusCode, 403)
  assert.equal((await get(path, key)).statusCode, 403)
  assert.equal((await get(`${path}/nothing`, key)).statusCode, 403)
  assert.equal((await get(`${path}/nothing`)).statusCode, 404)
})

test('no table and no line of the log at the finest level holds a raw id of a request', async () => {
  await post({ publisherId: 10, userId, userLoggedInId })
  await post({ publisherId: 'x', userId, userLoggedInId })

  for (const id of [userId, userLoggedInId]) {
    assert.deepEqual(await findText(admin.warehouse, id), [])
    assert.ok(!admin.log.text.includes(id))
  }
})

test('no more erasures are taken than may be open at once, and again once some are closed', async () => {
  const { warehouse } = admin
  const fill = (stage: number) =>
    warehouse.command(
      `INSERT INTO erasure (id, publisher_id, requested_at, stage, changed_at, erased_at, identities_hex)
       SELECT concat('fill', toString(number)), 99, now64(6), {stage:UInt8}, now64(6), now64(6), []
       FROM numbers(10000)`,
      { stage }
    )
  await fill(1)

  const refused = await post({ publisherId: 10, userId })

  assert.equal(refused.statusCode, 429)
  assert.match(refused.body, /at most 10000 erasures may be open/)
  assert.ok(Number(refused.headers['retry-after']) > 0)
  await fill(3)
  assert.equal((await post({ publisherId: 10, userId })).statusCode, 202)
})
