// Every operation of the campaign port against every kind of key, from the table of operations: one
// that is added is held to its rule of access here without being listed anywhere.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openKeyStore, type KeyStore } from '../../src/access/key-store.ts'
import { commonHeaders } from '../../src/campaign/send.ts'
import { createDocsPages } from '../../src/campaign/docs-pages.ts'
import { scopes, type KeyRequest, type Scope } from '../../src/contract/admin.ts'
import { invitationScope } from '../../src/contract/invitations.ts'
import type { Access, Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'
import { Wire, type Reply } from '../fuzz/wire.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { startHarness } from './harness.ts'

const nowMs = Date.UTC(2026, 2, 2, 10)
const adminKey = 'a'.repeat(43)
const everybody = { advertisers: 'all', publishers: 'all' } as const
const own = { advertisers: [1], publishers: [10] }
const rival = { advertisers: [2], publishers: [20] }

/** What anybody may ask for. Whatever else is public without being on this list is a fault. */
const publicOperations = ['getOpenApi', 'getHealth', 'getReadiness']

const onPort = operations.filter(({ ports }) => ports.includes('campaign'))
const withKey = onPort.flatMap((operation) =>
  operation.access === null ? [] : [{ operation, access: operation.access }]
)
const guarded = withKey.flatMap(({ operation, access: { scope, ...access } }) =>
  scope === invitationScope ? [] : [{ operation, access: { ...access, scope } }]
)

let warehouse: Warehouse
let store: KeyStore
let port = 0
let wire: Wire
const closers: (() => Promise<void>)[] = []
const made = new Map<string, string>()
let revoked = ''
let asked = 0

before(async () => {
  warehouse = await openMigratedWarehouse()
  const clock = () => nowMs
  store = await openKeyStore({ warehouse, clock, log: silentLog, refreshMs: 3_600_000, adminKey })
  for (const scope of scopes) {
    await makeKey(`all ${scope}`, { ...everybody, scopes: [scope] })
    if (scope === 'admin' || scope === 'events:write') continue
    await makeKey(`own ${scope}`, { ...own, scopes: [scope] })
    await makeKey(`rival ${scope}`, { ...rival, scopes: [scope] })
  }
  const expiresAt = new Date(nowMs).toISOString()
  await makeKey('expired', { ...everybody, scopes: [...scopes], expiresAt })
  const { id, key } = await store.create({ name: 'revoked', ...everybody, scopes: [...scopes] })
  await store.revoke(id)
  revoked = key
  const pages = createDocsPages({ trackingUrl: 'http://t', campaignUrl: 'http://c' })
  const limits = { requestsPerMinuteMax: 1_000_000, trustProxy: true }
  const { app } = startHarness({ keys: store, pages, ...limits })
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  wire = new Wire(port)
  closers.push(() => app.close())
})
after(async () => {
  wire.close()
  for (const close of closers) await close()
  await store.close()
  await warehouse.close()
})

async function makeKey(name: string, request: Omit<KeyRequest, 'name'>): Promise<void> {
  made.set(name, (await store.create({ name, ...request })).key)
}

function keyOf(name: string): string {
  return made.get(name) ?? assert.fail(`there is a key ${name}`)
}

interface Asking {
  /** As they go out; more than one when they are doubled. */
  readonly authorizations?: readonly string[]
  readonly id?: string
  readonly method?: string
}

function pathOf({ path }: Operation, id: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'advertiserId' || name === 'publisherId' ? id : '1'
  )
}

async function ask(operation: Operation, asking: Asking): Promise<Reply> {
  const {
    authorizations = [],
    id = idOf(operation),
    method = operation.method.toUpperCase(),
  } = asking
  asked += 1
  const lines = [
    `${method} ${pathOf(operation, id)} HTTP/1.1`,
    'host: x',
    // Refusals are counted by address: each comes from another one.
    `x-forwarded-for: 10.0.${asked >> 8}.${asked & 255}`,
    ...authorizations.map((value) => `authorization: ${value}`),
    ...(operation.body === null ? [] : ['content-length: 0']),
  ]
  const { replies, fault } = await wire.exchange([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)], {
    repliesMax: 1,
    isHead: method === 'HEAD',
    timeoutMs: 60_000,
  })
  const [reply] = replies
  assert.ok(reply !== undefined, `${method} ${operation.path}: ${fault}`)
  assertHeaders(reply)
  return reply
}

const changing = new Set(['date', 'x-request-id', 'ratelimit-remaining', 'ratelimit-reset'])

/** What an answer says of itself, but for what differs from one answer to the next. */
function lastingOf({ headers }: Reply): readonly string[] {
  return headers
    .filter(([name]) => !changing.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .toSorted()
}

function assertHeaders({ headers }: Reply): void {
  const values = new Map(headers)
  for (const [name, value] of Object.entries(commonHeaders))
    assert.equal(values.get(name), value, name)
}

function idOf({ access }: Operation): string {
  return access?.isPublisherBound === true ? '10' : '1'
}

function isBound(access: Access): boolean {
  return access.isAdvertiserBound || access.isPublisherBound === true
}

function headOf(line: string, authorization: string): Buffer {
  return Buffer.from(`${line} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`)
}

function messagesOf({ body }: Reply): readonly string[] {
  const value: unknown = JSON.parse(body.toString())
  assert.ok(typeof value === 'object' && value !== null && 'messages' in value)
  assert.deepEqual(Object.keys(value), ['messages'])
  return value.messages as readonly string[]
}

test('what is public is what the list says, and everything else asks for a scope that exists', () => {
  const open = onPort.filter(({ access }) => access === null).map(({ operationId }) => operationId)

  assert.deepEqual(open.toSorted(), publicOperations.toSorted())
  assert.ok(guarded.length > 15)
  for (const { access } of guarded) assert.ok(scopes.includes(access.scope))
})

test('an invitation opens the one operation that accepts it, which no key opens', async () => {
  const accepting = withKey.filter(({ access }) => access.scope === invitationScope)
  assert.deepEqual(
    accepting.map(({ operation }) => operation.operationId),
    ['acceptInvitation']
  )
  const { key: code } = await store.invite(
    { name: 'invited', ...everybody, scopes: [...scopes] },
    1
  )
  for (const { operation } of guarded) {
    const reply = await ask(operation, { authorizations: [`Bearer ${code}`] })
    assert.equal(reply.status, 403, operation.operationId)
    assert.deepEqual(messagesOf(reply), ['An invitation can only be accepted.'])
  }
  for (const { operation } of accepting) {
    for (const key of [adminKey, ...made.values()]) {
      const { status } = await ask(operation, { authorizations: [`Bearer ${key}`] })
      assert.equal(status, key === keyOf('expired') ? 401 : 403)
    }
    const authorizations = [`Bearer ${code}`]
    assert.equal((await ask(operation, { authorizations })).status, 200)
  }
})

test('an operation is bound to the advertiser that its path names, else to the publisher, and to no one besides', () => {
  for (const { operation, access } of guarded) {
    const { path } = operation
    assert.equal(access.isAdvertiserBound, path.includes('{advertiserId}'), path)
    // Explanations and the like are for operators, who may look at every publisher.
    const isForPublishers =
      path.includes('{publisherId}') && !access.isAdvertiserBound && access.scope !== 'admin'
    assert.equal(access.isPublisherBound === true, isForPublishers, path)
  }
})

const strangers: readonly (readonly [string, () => readonly string[]])[] = [
  ['no key', () => []],
  ['an empty header', () => ['']],
  ['a scheme alone', () => ['Bearer']],
  ['another scheme', () => [`Basic ${adminKey}`]],
  ['a bare key', () => [adminKey]],
  ['the admin key twice', () => [`Bearer ${adminKey}`, `Bearer ${adminKey}`]],
  ['a wrong key and the admin key', () => ['Bearer x', `Bearer ${adminKey}`]],
  ['the admin key and another scheme', () => [`Bearer ${adminKey}`, 'Basic x']],
  ['two keys in one header', () => [`Bearer ${adminKey}, Bearer ${adminKey}`]],
  ['an unknown key', () => [`Bearer st_${'A'.repeat(43)}`]],
  ['a key cut short', () => [`Bearer ${adminKey.slice(1)}`]],
  ['a key in another case', () => [`Bearer ${adminKey.toUpperCase()}`]],
  ['an expired key', () => [`Bearer ${keyOf('expired')}`]],
  ['a revoked key', () => [`Bearer ${revoked}`]],
]

for (const { operation, access } of guarded) {
  const { operationId } = operation

  test(`${operationId}: whoever has no valid key is 401 and told how, whatever the id`, async () => {
    for (const [stranger, authorizations] of strangers) {
      for (const id of [idOf(operation), '999', 'x']) {
        const reply = await ask(operation, { authorizations: authorizations(), id })
        assert.equal(reply.status, 401, stranger)
        assert.equal(new Map(reply.headers).get('www-authenticate'), 'Bearer')
        assert.equal(messagesOf(reply).length, 1)
      }
    }
  })

  test(`${operationId}: a key for everybody without the scope is 403`, async () => {
    const enough = new Set<Scope>([access.scope, ...(access.otherScopes ?? []), 'admin'])
    const others = scopes.filter((scope) => !enough.has(scope))
    for (const scope of others) {
      const reply = await ask(operation, { authorizations: [bearerOf('all', scope)] })
      assert.equal(reply.status, 403, scope)
      assert.deepEqual(messagesOf(reply), [`The key does not have the scope ${access.scope}.`])
    }
  })

  test(`${operationId}: the scope is enough, and so are admin and the configured key`, async () => {
    const keys = [bearerOf('all', access.scope), bearerOf('all', 'admin'), `Bearer ${adminKey}`]
    if (isBound(access)) keys.push(bearerOf('own', access.scope))
    for (const authorization of keys) {
      const { status } = await ask(operation, { authorizations: [authorization] })
      assert.ok(status !== 401 && status !== 403 && status < 500, `${status}`)
    }
  })

  test(`${operationId}: another method, HEAD among them, gets no one past the key`, async () => {
    for (const method of ['HEAD', 'PATCH', 'OPTIONS', 'TRACE', 'GET', 'POST', 'PUT', 'DELETE']) {
      const { status } = await ask(operation, { method })
      assert.ok(status >= 400 && status < 500, `${method}: ${status}`)
    }
  })
}

const readings = guarded.filter(({ operation: { method } }) => method === 'get')

for (const { operation, access } of readings) {
  test(`${operation.operationId}: HEAD is answered as GET is, without a body and to nobody else`, async () => {
    const callers = [[], [bearerOf('all', access.scope)]]
    for (const authorizations of callers) {
      const got = await ask(operation, { authorizations })
      const head = await ask(operation, { authorizations, method: 'HEAD' })
      assert.equal(head.status, got.status)
      assert.equal(head.body.length, 0)
      assert.deepEqual(lastingOf(head), lastingOf(got))
    }
  })
}

for (const { operation, access } of guarded.filter((one) => isBound(one.access))) {
  test(`${operation.operationId}: a key of others is 403 alike, whether or not the id exists`, async () => {
    const authorizations = [bearerOf('rival', access.scope)]
    const answers = new Set<string>()
    for (const id of [idOf(operation), '999', '0', '-1', 'x', '1e0', '%20', '9'.repeat(300)]) {
      const { status, body } = await ask(operation, { authorizations, id })
      answers.add(`${status} ${body.toString()}`)
    }
    const who = access.isAdvertiserBound ? 'advertiser' : 'publisher'
    assert.deepEqual([...answers], [`403 {"messages":["The key is not for this ${who}."]}`])
  })
}

test('what nobody serves is refused with the same headers and tells no key from another', async () => {
  const lines = [
    'GET /admin/v1',
    'GET /nothing',
    'GET /admin/v1/keys/',
    'GET //metrics',
    'GET /.env',
  ]
  for (const line of lines) {
    const answers = new Set<string>()
    for (const authorization of [`Bearer ${adminKey}`, 'Bearer x', '']) {
      const listening = { repliesMax: 1, isHead: false, timeoutMs: 60_000 }
      const { replies } = await wire.exchange([headOf(line, authorization)], listening)
      const [reply] = replies
      assert.ok(reply !== undefined)
      assertHeaders(reply)
      answers.add(`${reply.status} ${reply.body.toString()}`)
    }
    assert.deepEqual([...answers], ['404 {"messages":["There is nothing here."]}'], line)
  }
})

test('every public page and document forbids framing, guessing its type and telling where one came from', async () => {
  const pages = createDocsPages({ trackingUrl: 'http://t', campaignUrl: 'http://c' })
  const open = onPort.filter(({ access }) => access === null).map(({ path }) => path)
  for (const path of [...open, ...pages.map((page) => page.path)]) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    await response.arrayBuffer()
    const { headers } = response
    assert.match(
      headers.get('content-security-policy') ?? '',
      /default-src 'none'.*frame-ancestors 'none'/,
      path
    )
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('set-cookie'), null)
    assert.ok(headers.has('cache-control'))
    assert.equal(headers.get('access-control-allow-origin'), null)
  }
})

function bearerOf(whose: 'all' | 'own' | 'rival', scope: Scope): string {
  return `Bearer ${keyOf(`${whose} ${scope}`)}`
}
