// People whom a proxy signs in, from the access that an operator gives them to its end.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminKey, bearer, proxyAddress, startAdmin, type AdminHarness } from './harness.ts'

let admin: AdminHarness

before(async () => {
  admin = await startAdmin()
})
after(() => admin.close())

async function admit(body: object, headers: object = bearer(adminKey)) {
  return await admin.app.inject({
    method: 'POST',
    url: '/admin/v1/people',
    headers: { ...headers },
    payload: body,
    remoteAddress: proxyAddress,
  })
}

async function asPerson(person: string, url: string, { method = 'GET', from = proxyAddress } = {}) {
  return await admin.app.inject({
    method: method as 'GET',
    url,
    headers: { 'x-forwarded-email': person, 'shelftrace-page': '1' },
    remoteAddress: from,
  })
}

const wish = { advertisers: [1], scopes: ['report:read'] }

test('a person gets in without a key from the moment on that access is given until it is revoked', async () => {
  const stranger = await asPerson('anna@example.com', '/v2/me')
  assert.equal(stranger.statusCode, 403)
  assert.equal(stranger.headers['shelftrace-error-code'], 'PERSON_UNKNOWN')
  assert.equal(stranger.headers['www-authenticate'], undefined)

  const given = await admit({ person: 'Anna@example.com', ...wish })
  assert.equal(given.statusCode, 201)
  const { id, ...rest } = given.json<{ id: string }>()
  assert.deepEqual(rest, {})

  const me = (await asPerson('anna@example.com', '/v2/me')).json<Record<string, unknown>>()
  assert.deepEqual(
    [me['name'], me['signOn'], me['scopes'], me['advertisers']],
    ['anna@example.com', true, ['report:read'], [{ id: 1, name: null }]]
  )
  assert.equal((await admit({ person: 'anna@example.com', ...wish })).statusCode, 422)
  const misspelt = await admit({ person: 'anna at example', ...wish })
  assert.deepEqual(misspelt.json(), {
    messages: ['/person must be an e-mail address such as ada@shop.example'],
  })

  const revoked = await admin.app.inject({
    method: 'DELETE',
    url: `/admin/v1/keys/${id}`,
    headers: bearer(adminKey),
  })
  assert.equal(revoked.statusCode, 204)
  assert.equal((await asPerson('anna@example.com', '/v2/me')).statusCode, 403)
  const trail = (await admin.audits()).filter(({ subject }) => subject === id)
  assert.deepEqual(
    trail.map(({ action, details }) => [action, (JSON.parse(details) as { name: string }).name]),
    [
      ['key.admit', 'anna@example.com'],
      ['key.revoke', 'anna@example.com'],
    ]
  )
})

test('the header is worth nothing from another address, and no refusal says whether the person is known', async () => {
  await admit({ person: 'bob@example.com', ...wish })
  const elsewhere = { from: '203.0.113.7' }
  const known = await asPerson('bob@example.com', '/v2/me', elsewhere)
  const unknown = await asPerson('nobody@example.com', '/v2/me', elsewhere)

  assert.equal(known.statusCode, 401)
  assert.equal(known.headers['shelftrace-error-code'], 'SIGN_ON_REFUSED')
  assert.deepEqual(known.json(), unknown.json())
  assert.match(admin.log.text, /"reason":"foreign-sign-on"/u)
  assert.ok(!admin.log.text.includes('bob@example.com'))
})

test('a person does what the scopes say and nothing more; changes bear the name of the person', async () => {
  await admit({ person: 'reader@example.com', ...wish })
  await admit({ person: 'operator@example.com', advertisers: 'all', scopes: ['admin'] })

  assert.equal((await asPerson('reader@example.com', '/admin/v1/keys')).statusCode, 403)
  assert.equal((await asPerson('reader@example.com', '/v2/advertisers/2/account')).statusCode, 403)
  const listed = await asPerson('operator@example.com', '/admin/v1/keys')
  assert.equal(listed.statusCode, 200)
  const { keys } = listed.json<{ keys: { id: string; name: string; signOn?: boolean }[] }>()
  const reader = keys.find(({ name }) => name === 'reader@example.com')
  assert.equal(reader?.signOn, true)

  await asPerson('operator@example.com', `/admin/v1/keys/${reader?.id}`, { method: 'DELETE' })
  const { json } = await admin.call('GET', '/admin/v1/audit?action=key.revoke&limit=1')
  const [record] = json['records'] as { keyName: string; subject: string }[]
  assert.deepEqual([record?.keyName, record?.subject], ['operator@example.com', reader?.id])
})

test('a change that another site makes the browser send is not made', async () => {
  await admit({ person: 'boss@example.com', advertisers: 'all', scopes: ['admin'] })
  const forged = { 'x-forwarded-email': 'boss@example.com' }
  const wanted = { person: 'thief@example.com', ...wish }
  for (const headers of [
    forged,
    { ...forged, 'content-type': 'text/plain' },
    { ...forged, 'shelftrace-page': '1', 'sec-fetch-site': 'same-site' },
  ]) {
    const refused = await admit(wanted, headers)
    assert.equal(refused.statusCode, 403)
    assert.equal(refused.headers['shelftrace-error-code'], 'CROSS_SITE_REFUSED')
  }
  assert.equal((await admit(wanted, { ...forged, 'shelftrace-page': '1' })).statusCode, 201)
})

test('no answer lets other sites ask with the header of our pages', async () => {
  const preflight = await admin.app.inject({
    method: 'OPTIONS',
    url: '/admin/v1/people',
    headers: {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'shelftrace-page',
    },
    remoteAddress: proxyAddress,
  })

  assert.equal(preflight.statusCode, 405)
  assert.equal(preflight.headers['access-control-allow-origin'], undefined)
  assert.equal(preflight.headers['access-control-allow-headers'], undefined)
})

test('access has the same bounds as a key', async () => {
  for (const body of [
    { person: 'x@example.com', scopes: ['admin'] },
    { person: 'x@example.com', advertisers: [1], scopes: [] },
    { person: 'x@example.com', ...wish, expiresAt: '2020-01-01T00:00:00Z' },
    { person: 'no address', ...wish },
    { person: `${'x'.repeat(260)}@example.com`, ...wish },
    { person: 'x@example.com', ...wish, name: 'Xaver' },
    { ...wish },
  ]) {
    assert.equal((await admit(body)).statusCode, 422, JSON.stringify(body).slice(0, 80))
  }
})
