import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminKey, bearer, nowMs, startAdmin, type AdminHarness } from './harness.ts'

let admin: AdminHarness

before(async () => {
  admin = await startAdmin()
})
after(() => admin.close())

interface Invitation {
  readonly id: string
  readonly code: string
  readonly address: string
  readonly expiresAt: string
}

async function invite(body: object) {
  return await admin.app.inject({
    method: 'POST',
    url: '/admin/v1/invitations',
    headers: bearer(adminKey),
    payload: body,
  })
}

async function accept(code: string) {
  return await admin.app.inject({ method: 'POST', url: '/v2/invitation', headers: bearer(code) })
}

const wish = { name: 'Anna', advertisers: [1], scopes: ['report:read'] }

test('a person gets a key by following the link, and only that person ever sees it', async () => {
  const invited = await invite(wish)
  assert.equal(invited.statusCode, 201)
  const { id, code, address, expiresAt } = invited.json<Invitation>()
  assert.equal(address, `#/invitation/${code}`)
  assert.equal(expiresAt, new Date(nowMs + 72 * 3_600_000).toISOString())

  const listed = await keyInList(id)
  assert.deepEqual(
    [listed?.['invited'], listed?.['scopes'], listed?.['expiresAt']],
    [true, ['report:read'], expiresAt]
  )
  assert.equal((await me(code)).statusCode, 403)

  const accepted = await accept(code)
  assert.equal(accepted.statusCode, 201)
  assert.equal(accepted.headers['cache-control'], 'no-store')
  const made = accepted.json<{ id: string; key: string }>()
  assert.equal(made.id, id)
  assert.equal((await me(made.key)).json<{ name: string }>().name, 'Anna')
  assert.deepEqual(
    [(await keyInList(id))?.['invited'], (await keyInList(id))?.['expiresAt']],
    [undefined, undefined]
  )
  assert.equal((await accept(code)).statusCode, 401)
  assert.equal((await accept(made.key)).statusCode, 403)

  const audits = await admin.audits()
  assert.deepEqual(
    audits.filter(({ subject }) => subject === id).map(({ action, key_id: by }) => [action, by]),
    [
      ['key.invite', 'configured-admin'],
      ['key.accept', id],
    ]
  )
  const everything = JSON.stringify(audits) + admin.log.text
  assert.ok(!everything.includes(code) && !everything.includes(made.key))
})

test('an invitation is revoked like a key, by its id', async () => {
  const { id, code } = (await invite(wish)).json<Invitation>()
  const url = `/admin/v1/keys/${id}`
  const revoked = await admin.app.inject({ method: 'DELETE', url, headers: bearer(adminKey) })
  assert.equal(revoked.statusCode, 204)
  assert.equal((await accept(code)).statusCode, 401)
})

test('what no key may be made for, nobody is invited to, and every field is held to its rule', async () => {
  for (const [body, message] of [
    [{ ...wish, advertisers: undefined }, '/advertisers is required'],
    [{ ...wish, scopes: ['admin'] }, '/advertisers must be'],
    [{ ...wish, scopes: ['invitation:accept'] }, '/scopes/0'],
    [{ ...wish, expiresAt: new Date(nowMs).toISOString() }, '/expiresAt must lie in the future'],
    [{ ...wish, validForHours: 0 }, '/validForHours'],
    [{ ...wish, validForHours: 721 }, '/validForHours'],
    [{ ...wish, validForHours: 1.5 }, '/validForHours'],
    [{ ...wish, hours: 1 }, 'hours'],
    [{ ...wish, name: ' ' }, '/name must be text with a visible character'],
    [
      { ...wish, name: 'x\u202e' },
      '/name must be text with a visible character and without controls',
    ],
    [{ scopes: ['report:read'], advertisers: [1] }, '/name'],
  ] as const) {
    const refused = await invite(body)
    assert.equal(refused.statusCode, 422, message)
    assert.ok(refused.body.includes(message), `${message}: ${refused.body}`)
  }
})

async function me(key: string) {
  return await admin.app.inject({ url: '/v2/me', headers: bearer(key) })
}

async function keyInList(id: string): Promise<Record<string, unknown> | undefined> {
  const list = await admin.app.inject({ url: '/admin/v1/keys', headers: bearer(adminKey) })
  const { keys } = list.json<{ keys: Record<string, unknown>[] }>()
  return keys.find((key) => key['id'] === id)
}
