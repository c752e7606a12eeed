import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AccessKey } from '../../src/access/key.ts'
import { openKeyStore, type KeyStore } from '../../src/access/key-store.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'

const adminKey = 'a'.repeat(43)
const hourMs = 3_600_000
const startMs = Date.UTC(2026, 2, 1)
let warehouse: Warehouse
let nowMs = startMs

before(async () => {
  warehouse = await openMigratedWarehouse()
})
after(() => warehouse.close())

async function openStore(t: { after(close: () => Promise<void>): void }): Promise<KeyStore> {
  nowMs = startMs
  const options = { warehouse, clock: () => nowMs, log: silentLog, adminKey }
  // Refreshed by hand: tests own the time.
  const store = await openKeyStore({ ...options, refreshMs: 3_600_000 })
  t.after(() => store.close())
  return store
}

const request = { name: 'Anna', advertisers: [1], scopes: ['report:read' as const] }

function found(store: KeyStore, token: string): AccessKey {
  return store.find(token) ?? assert.fail('the store finds it')
}

test('an invitation opens nothing, and becomes a key of the same id, once', async (t) => {
  const store = await openStore(t)
  const { id, key: code, expiresAtMs } = await store.invite(request, 2)

  const invited = found(store, code)
  assert.equal(expiresAtMs, startMs + 2 * hourMs)
  assert.deepEqual(invited.scopes, [])
  assert.deepEqual(invited.invitation, { scopes: ['report:read'], expiresAtMs: null })

  const made = (await store.accept(invited)) ?? assert.fail('it is accepted')

  const key = found(store, made.key)
  assert.deepEqual([made.id, key.id, key.name], [id, id, 'Anna'])
  assert.deepEqual([key.scopes, key.advertisers], [['report:read'], [1]])
  assert.deepEqual([key.expiresAtMs, key.invitation], [null, null])
  assert.equal(store.find(code), null)
  assert.equal(await store.accept(invited), null)
  assert.deepEqual(
    store.list().filter((one) => one.id === id),
    [key]
  )
})

function isAway(): Promise<void> {
  return Promise.reject(new Error('the audit is away'))
}

test('an invitation whose acceptance cannot be recorded stands, and is accepted when the call is repeated', async (t) => {
  const store = await openStore(t)
  const { key: code } = await store.invite(request, 2)

  await assert.rejects(store.accept(found(store, code), isAway), /away/u)

  const recorded: string[] = []
  const made = await store.accept(found(store, code), async () => {
    recorded.push('accepted')
    await Promise.resolve()
  })
  assert.ok(made !== null && store.find(made.key) !== null)
  // Nobody is recorded as having accepted what is used up.
  const later = await store.accept(found(store, made.key), isAway)
  assert.equal(later, null)
  assert.deepEqual(recorded, ['accepted'])
})

test('of two who follow one link at once, one gets the key and the other is refused', async (t) => {
  const store = await openStore(t)
  const invited = found(store, (await store.invite(request, 2)).key)

  const answers = await Promise.all([store.accept(invited), store.accept(invited)])

  const made = answers.filter((answer) => answer !== null)
  assert.equal(made.length, 1)
  assert.equal(store.find(made[0]?.key ?? '')?.name, 'Anna')
})

test('of two who follow it on two nodes at once, one key remains on every node', async (t) => {
  const [one, other] = [await openStore(t), await openStore(t)]
  const { id, key: code } = await one.invite(request, 2)
  await other.refresh()

  const answers = await Promise.all([
    one.accept(found(one, code)),
    other.accept(found(other, code)),
  ])
  for (const store of [one, other]) await store.refresh()

  const alive = answers.filter((answer) => one.find(answer?.key ?? '')?.id === id)
  assert.equal(alive.length, 1)
  assert.equal(other.find(alive[0]?.key ?? '')?.id, id)
})

test('it can be accepted on another node, after a restart, and until its last millisecond', async (t) => {
  const store = await openStore(t)
  const first = await store.invite(request, 1)
  const second = await store.invite(request, 1)
  const other = await openStore(t)

  nowMs = startMs + hourMs - 1
  await other.refresh()
  assert.ok(await other.accept(found(other, first.key)))
  await store.refresh()
  assert.equal(store.find(first.key), null)

  const late = found(store, second.key)
  nowMs = startMs + hourMs
  assert.equal(store.find(second.key), null)
  assert.equal(await store.accept(late), null)
})

test('it ends with the key that it is for, whose end it keeps', async (t) => {
  const store = await openStore(t)
  const expiresAt = new Date(startMs + hourMs).toISOString()
  const { key: code, expiresAtMs } = await store.invite({ ...request, expiresAt }, 700)
  assert.equal(expiresAtMs, startMs + hourMs)

  const made = await store.accept(found(store, code))

  assert.equal(found(store, made?.key ?? '').expiresAtMs, startMs + hourMs)
})

test('a revoked invitation is not accepted, and what it became is revoked by the same id', async (t) => {
  const store = await openStore(t)
  const revoked = await store.invite(request, 2)
  const invited = found(store, revoked.key)
  await store.revoke(revoked.id)
  assert.equal(store.find(revoked.key), null)
  assert.equal(await store.accept(invited), null)

  const other = await store.invite(request, 2)
  const made = await store.accept(found(store, other.key))
  await store.revoke(other.id)
  assert.equal(store.find(made?.key ?? ''), null)
})
