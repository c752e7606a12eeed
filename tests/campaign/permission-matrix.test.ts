// Every operation of both ports against every kind of key. Operations come from the table, and what each
// key may do follows from the access that the table declares, by the rules in `expected`. The code that
// decides in the service is not asked, so an operation that is added is covered without being listed here.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { keyEntry } from '../../src/access/key.ts'
import { openKeyStore, type KeyStore } from '../../src/access/key-store.ts'
import { scopes, type Scope } from '../../src/contract/admin.ts'
import { invitationScope } from '../../src/contract/invitations.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { startTracker } from '../tracking/fixture.ts'
import { startHarness } from './harness.ts'

const nowMs = Date.UTC(2026, 2, 2, 10)
const adminKey = 'a'.repeat(43)
const ids = { advertiser: 1, publisher: 10 }

type Reach = readonly number[] | 'all'

interface Holder {
  readonly name: string
  /** Null: the call has no key. */
  readonly token: string | null
  /** Whether the key is one that the service may accept. */
  readonly isValid: boolean
  readonly scopes: readonly Scope[]
  readonly advertisers: Reach
  readonly publishers: Reach
}

const reaches: readonly (readonly [string, Pick<Holder, 'advertisers' | 'publishers'>])[] = [
  ['nobody', { advertisers: [], publishers: [] }],
  ['the advertiser', { advertisers: [ids.advertiser], publishers: [] }],
  ['another advertiser', { advertisers: [2], publishers: [] }],
  ['all advertisers', { advertisers: 'all', publishers: [] }],
  ['the publisher', { advertisers: [], publishers: [ids.publisher] }],
  ['another publisher', { advertisers: [], publishers: [20] }],
  ['all publishers', { advertisers: [], publishers: 'all' }],
  ['everybody', { advertisers: 'all', publishers: 'all' }],
]
const everybody = { advertisers: 'all', publishers: 'all' } as const
const holders: Holder[] = []

let warehouse: Warehouse
let store: KeyStore
let app: ReturnType<typeof startHarness>['app']
let asked = 0

before(async () => {
  warehouse = await openMigratedWarehouse()
  const clock = () => nowMs
  store = await openKeyStore({ warehouse, clock, log: silentLog, refreshMs: 3_600_000, adminKey })
  const all = { ...everybody, scopes }
  holders.push(
    { name: 'no key', token: null, isValid: false, ...all },
    { name: 'an unknown key', token: `st_${'A'.repeat(43)}`, isValid: false, ...all },
    { name: "the operator's admin key", token: adminKey, isValid: true, ...all },
    storeKey('an expired key', { ...all, isValid: false, expiresAtMs: nowMs })
  )
  holders.push(storeKey('a revoked key', { ...all, isValid: false }))
  for (const [whom, reach] of reaches) {
    // The API refuses to make some of these, but an earlier version, or a hand, may have stored them.
    holders.push(storeKey(`no scope for ${whom}`, { ...reach, scopes: [], isValid: true }))
    for (const scope of scopes) {
      const name = `${scope} for ${whom}`
      holders.push(storeKey(name, { ...reach, scopes: [scope], isValid: true }))
    }
  }
  await warehouse.insert('catalog_entry', Buffer.from(rows.join('')))
  assert.ok(await store.revoke(idOf('a revoked key')))
  const limits = { requestsPerMinuteMax: 1_000_000, trustProxy: true }
  app = startHarness({ keys: store, ...limits }).app
})
after(async () => {
  await app.close()
  await store.close()
  await warehouse.close()
})

function idOf(name: string): string {
  return `key_${name.replaceAll(' ', '_')}`
}

/** Entries that the warehouse gets at once. */
const rows: string[] = []

/** As a key stands in the warehouse, past all checks of the API. */
function storeKey(
  name: string,
  {
    expiresAtMs = null,
    ...rights
  }: Omit<Holder, 'name' | 'token'> & { expiresAtMs?: number | null }
): Holder {
  const token = `st_${name.replaceAll(/[^a-z]/gu, '-')}`
  const hash = createHash('sha256').update(token).digest()
  const made = {
    createdAtMs: nowMs - 1_000,
    revokedAtMs: null,
    compromisedSinceMs: null,
    invitation: null,
    isSignOn: false,
    isConfigured: false,
  }
  const key = { ...rights, ...made, id: idOf(name), name, expiresAtMs }
  const { kind, id, body } = keyEntry({ key, hash })
  const row = { kind, id, body: JSON.stringify(body), version: 1 + asked++ }
  rows.push(`${JSON.stringify(row)}\n`)
  return { name, token, ...rights }
}

function includes(reach: Reach, id: number): boolean {
  return reach === 'all' || reach.includes(id)
}

/** What the declared access means: the statuses 401 and 403, or the call passes. */
function expected({ access }: Operation, holder: Holder): 401 | 403 | 'passes' {
  if (access === null) return 'passes'
  if (!holder.isValid) return 401
  // No invitation is among the holders: it could be accepted once only.
  if (access.scope === invitationScope) return 403
  const enough = new Set<Scope>(['admin', access.scope, ...(access.otherScopes ?? [])])
  if (!holder.scopes.some((scope) => enough.has(scope))) return 403
  const isAdvertisers = !access.isAdvertiserBound || includes(holder.advertisers, ids.advertiser)
  const isPublishers =
    access.isPublisherBound !== true || includes(holder.publishers, ids.publisher)
  return isAdvertisers && isPublishers ? 'passes' : 403
}

function pathOf({ path }: Operation): string {
  const values: Readonly<Record<string, string>> = { publisherId: String(ids.publisher) }
  return path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => values[name] ?? '1')
}

function headersOf({ token }: Holder): Record<string, string> {
  asked += 1
  return {
    // Refused keys are counted by network: each call comes from another one.
    'x-forwarded-for': `10.${asked >> 16}.${(asked >> 8) & 255}.${asked & 255}`,
    ...(token !== null && { authorization: `Bearer ${token}` }),
  }
}

async function ask(operation: Operation, holder: Holder): Promise<number> {
  const { statusCode } = await app.inject({
    method: operation.method === 'head' ? 'HEAD' : upper(operation.method),
    url: pathOf(operation),
    headers: headersOf(holder),
  })
  return statusCode
}

function upper(method: Exclude<Operation['method'], 'head'>) {
  return ({ get: 'GET', post: 'POST', put: 'PUT', delete: 'DELETE' } as const)[method]
}

test('every operation names a scope that exists, or is public, and no operation is open to a key without a scope', () => {
  const asking = operations.filter(({ access }) => access !== null)
  for (const { access, operationId } of asking) {
    const named = access === null ? [] : [access.scope, ...(access.otherScopes ?? [])]
    for (const scope of named) {
      assert.ok(scope === invitationScope || scopes.includes(scope), operationId)
    }
    assert.equal(new Set(named).size, named.length, operationId)
  }
  const bare = holders.filter(({ isValid, scopes: held }) => isValid && held.length === 0)
  assert.equal(bare.length, reaches.length)
  for (const operation of asking) {
    for (const holder of bare) assert.equal(expected(operation, holder), 403)
  }
})

for (const operation of operations.filter(({ ports }) => ports.includes('campaign'))) {
  test(`${operation.operationId} on the campaign port answers each kind of key as its declared access says`, async () => {
    for (const holder of holders) {
      const status = await ask(operation, holder)
      const found = status === 401 || status === 403 ? status : 'passes'

      assert.equal(found, expected(operation, holder), `${holder.name}: ${status}`)
      assert.ok(status < 500, `${holder.name}: ${status}`)
    }
  })
}

test('no key, of whatever kind, changes any answer of the tracking port', async (t) => {
  const tracker = await startTracker(t)
  for (const operation of operations.filter(({ ports }) => ports.includes('tracking'))) {
    assert.equal(operation.access, null, operation.operationId)
    const statuses = new Set<number>()
    for (const holder of holders) {
      const headers = headersOf(holder)
      const reply = await tracker.send(operation.method.toUpperCase(), pathOf(operation), {
        headers,
      })
      statuses.add(reply.status)
    }
    assert.equal(statuses.size, 1, operation.operationId)
    assert.ok(!statuses.has(401) && !statuses.has(403), operation.operationId)
  }
})

test('the kinds of key are all there', () => {
  assert.equal(holders.length, 5 + reaches.length * (1 + scopes.length))
  assert.equal(new Set(holders.map(({ token }) => token)).size, holders.length)
})
