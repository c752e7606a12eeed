// Access of people whom the sign-on of a proxy names.
import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { keyEntry } from '../../src/access/key.ts'
import { limits, openKeyStore } from '../../src/access/key-store.ts'
import { hashToken } from '../../src/access/token.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'
import { aKey } from '../campaign/harness.ts'

let warehouse: Warehouse
let nowMs = Date.UTC(2026, 2, 1)
const clock = () => nowMs

before(async () => {
  warehouse = await openMigratedWarehouse()
})
after(() => warehouse.close())

async function openStore(t: TestContext) {
  const options = { warehouse, clock, log: silentLog, refreshMs: 3_600_000 }
  const store = await openKeyStore({ ...options, adminKey: 'a'.repeat(43) })
  t.after(() => store.close())
  return store
}

const rights = { advertisers: [1], scopes: ['report:read' as const] }

test('a person has access at once here, after a refresh elsewhere, under the address in small letters', async (t) => {
  const store = await openStore(t)
  const other = await openStore(t)

  const admitted = await store.admit({ person: 'Anna@Example.com', ...rights })

  const found = store.findPerson('anna@example.com')
  assert.deepEqual(
    [found?.id, found?.name, found?.isSignOn, found?.scopes, found?.advertisers],
    [admitted?.id, 'anna@example.com', true, ['report:read'], [1]]
  )
  assert.equal(other.findPerson('anna@example.com'), null)
  await other.refresh()
  assert.equal(other.findPerson('anna@example.com')?.id, admitted?.id)
  assert.ok(other.list().some(({ id, isSignOn }) => id === admitted?.id && isSignOn))
})

test('a person has one access at a time, and a new one once that has ended or is revoked', async (t) => {
  const store = await openStore(t)
  const wish = { person: 'bob@example.com', ...rights }
  const first = await store.admit({ ...wish, expiresAt: new Date(nowMs + 60_000).toISOString() })
  assert.equal(await store.admit({ ...wish, person: 'BOB@example.com' }), null)

  nowMs += 60_000
  const second = await store.admit(wish)
  assert.ok(second !== null && second.id !== first?.id)
  await store.revoke(second.id)
  nowMs += 1
  const third = await store.admit(wish)
  assert.equal(store.findPerson('bob@example.com')?.id, third?.id)
})

test('what was given last counts on every node, also when two nodes gave it, and revoking it brings nothing back', async (t) => {
  const [store, other] = [await openStore(t), await openStore(t)]
  const admitted = await store.admit({ person: 'carla@example.com', ...rights })
  assert.ok(admitted !== null)
  const twin = { ...store.findPerson('carla@example.com')!, id: 'key_from_another_node' }
  const { kind, id, body } = keyEntry({ key: twin, hash: hashToken('another') })
  const row = { kind, id, body: JSON.stringify(body), version: 1_000 }
  await warehouse.insert('catalog_entry', Buffer.from(`${JSON.stringify(row)}\n`))
  await store.refresh()
  await other.refresh()

  const counting = store.findPerson('carla@example.com')
  assert.equal(other.findPerson('carla@example.com')?.id, counting?.id)
  assert.ok(counting !== null)
  await store.revoke(counting.id)
  const left = store.findPerson('carla@example.com')
  assert.ok(left !== null && !store.isValid(left))
  await other.refresh()
  const leftThere = other.findPerson('carla@example.com')
  assert.ok(leftThere !== null && !other.isValid(leftThere))
})

test('a key that is named like a person lets nobody in by the sign-on', async (t) => {
  const store = await openStore(t)

  await store.create({ name: 'dora@example.com', ...rights })
  await store.invite({ name: 'dora@example.com', ...rights }, 1)

  assert.equal(store.findPerson('dora@example.com'), null)
})

test('a list that is too old to know of a revocation lets no person in', async (t) => {
  const store = await openStore(t)
  await store.admit({ person: 'erik@example.com', ...rights })

  nowMs += limits.listAgeMsMax + 1

  assert.throws(() => store.findPerson('erik@example.com'), { code: 'ACCESS_STALE' })
})

test('versions that know no sign-on read a key of which nobody has the secret', () => {
  const key = aKey({ name: 'anna@example.com', isSignOn: true })

  const { body } = keyEntry({ key, hash: hashToken('x') })

  assert.equal((body as { signOn?: boolean }).signOn, true)
  assert.equal(Object.hasOwn(keyEntry({ key: aKey(), hash: hashToken('x') }).body, 'signOn'), false)
})
