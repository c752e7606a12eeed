import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AccessKey } from '../../src/access/key.ts'
import { limits, openKeyStore, type KeyStore } from '../../src/access/key-store.ts'
import { entryStoreLimits } from '../../src/catalog/entry-store.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'
import { eventually } from '../helpers/service.ts'

const silent = { info: () => {}, error: () => {} }
const adminKey = 'a'.repeat(43)
let warehouse: Warehouse
let nowMs = Date.UTC(2026, 2, 1)
const clock = () => nowMs

before(async () => {
  warehouse = await openMigratedWarehouse()
})
after(() => warehouse.close())

async function openStore(t: { after(close: () => Promise<void>): void }): Promise<KeyStore> {
  // Refreshed by hand: tests own the time.
  const options = { warehouse, clock, log: silent, adminKey, refreshMs: 3_600_000 }
  const store = await openKeyStore(options)
  t.after(() => store.close())
  return store
}

const request = { name: 'n', advertisers: [1], scopes: ['report:read' as const] }

test('a new key works at once here, after a refresh elsewhere, and after a restart', async (t) => {
  const store = await openStore(t)
  const other = await openStore(t)

  const { id, key } = await store.create({ ...request, scopes: ['site:read', 'report:read'] })

  assert.match(key, /^st_[A-Za-z0-9_-]{43}$/)
  assert.deepEqual(store.find(key)?.scopes, ['report:read', 'site:read'])
  assert.equal(other.find(key), null)
  await other.refresh()
  assert.equal(other.find(key)?.id, id)
  assert.equal((await openStore(t)).find(key)?.id, id)
})

test('neither the key nor half of it is ever stored', async (t) => {
  const store = await openStore(t)

  const { id, key } = await store.create(request)

  const rows = await warehouse.rows<{ body: string }>(
    'SELECT body FROM catalog_entry WHERE id = {id:String} LIMIT 10',
    { id }
  )
  const hash = createHash('sha256').update(key).digest('hex')
  assert.equal(rows.length, 1)
  assert.ok(rows[0]?.body.includes(hash))
  assert.ok(!JSON.stringify(rows).includes(key.slice(3, 20)))
  assert.ok(!JSON.stringify(store.list()).includes(hash))
})

test('what nobody handed out finds nothing, however long', async (t) => {
  const store = await openStore(t)
  const { key } = await store.create(request)

  for (const text of [
    '',
    ' ',
    'undefined',
    key.slice(0, -1),
    `${key}x`,
    key.toLowerCase(),
    'x'.repeat(9_999),
  ]) {
    assert.equal(store.find(text), null, text)
  }
})

test('a key works until the instant it expires', async (t) => {
  const store = await openStore(t)
  const expiresAt = new Date(nowMs + 1_000).toISOString()
  const { key } = await store.create({ ...request, expiresAt })

  assert.notEqual(store.find(key), null)
  nowMs += 999
  assert.notEqual(store.find(key), null)
  nowMs += 1
  assert.equal(store.find(key), null)
})

test('a revoked key is refused at once here and after a refresh elsewhere, and stays listed', async (t) => {
  const store = await openStore(t)
  const { id, key } = await store.create(request)
  const other = await openStore(t)
  assert.notEqual(other.find(key), null)

  assert.equal((await store.revoke(id))?.revokedAtMs, nowMs)

  assert.equal(store.find(key), null)
  await other.refresh()
  assert.equal(other.find(key), null)
  assert.equal(store.list().find((listed) => listed.id === id)?.revokedAtMs, nowMs)
  assert.equal((await other.revoke(id))?.revokedAtMs, nowMs)
  assert.equal(await store.revoke('key_none'), null)
})

test('since when a key was compromised can be said with the revocation or later, and only moves back', async (t) => {
  const store = await openStore(t)
  const other = await openStore(t)
  const { id } = await store.create(request)
  const revokedAtMs = nowMs
  await store.revoke(id)
  nowMs += 1_000

  const told: (number | null | undefined)[] = []
  for (const sinceMs of [null, nowMs, nowMs - 500_000, nowMs - 600_000, nowMs - 1, null]) {
    told.push((await other.revoke(id, sinceMs))?.compromisedSinceMs)
  }
  await store.refresh()

  const [first, second] = [nowMs - 500_000, nowMs - 600_000]
  assert.deepEqual(told, [null, null, first, second, second, second])
  const { revokedAtMs: stored, compromisedSinceMs } = store.findById(id) ?? {}
  assert.deepEqual([stored, compromisedSinceMs], [revokedAtMs, second])
})

test('a list that was read after an instant is not read again unless it is old or the clock was set back', async (t) => {
  const store = await openStore(t)
  const other = await openStore(t)
  const readAtMs = nowMs
  const isKnown = async (id: string, afterMs: number) => {
    await other.readAfter(afterMs)
    return other.findById(id) !== null
  }
  const { id } = await store.create(request)

  assert.equal(await isKnown(id, readAtMs - 1), false)
  assert.equal(await isKnown(id, readAtMs), true)
  const second = await store.create(request)
  nowMs += limits.listAgeMsMax
  assert.equal(await isKnown(second.id, readAtMs - 1), false)
  nowMs += 1
  assert.equal(await isKnown(second.id, readAtMs - 1), true)
})

// A node that has not heard of the revocation may write the key once more, and its clock may be ahead.
test('a revocation beats every version of the key, even a later one', async (t) => {
  const store = await openStore(t)
  const { id, key } = await store.create(request)
  const [row] = await warehouse.rows<{ body: string }>(
    `SELECT body FROM catalog_entry WHERE kind = 'key' AND id = {id:String} LIMIT 1`,
    { id }
  )
  await store.revoke(id)

  const later = { kind: 'key', id, body: row?.body, version: (nowMs + 3_600_000) * 1_000 }
  await warehouse.insert('catalog_entry', Buffer.from(`${JSON.stringify(later)}\n`))
  await store.refresh()

  assert.equal(store.find(key), null)
  assert.equal((await openStore(t)).find(key), null)
})

test('a revocation reaches another store by its own polling, well within 5 seconds', async (t) => {
  const store = await openStore(t)
  const { id, key } = await store.create(request)
  const other = await openKeyStore({ warehouse, clock, log: silent, adminKey, refreshMs: 1 })
  t.after(() => other.close())
  assert.notEqual(other.find(key), null)

  await store.revoke(id)

  await eventually('the other store knows', async () => {
    await Promise.resolve()
    return other.find(key) === null
  })
  // Half of the promise is left for the reading itself.
  assert.ok(entryStoreLimits.refreshMs <= 2_500)
})

test('a key that expires does so in every store at its instant, without any reading', async (t) => {
  const store = await openStore(t)
  const expiresAt = new Date(nowMs + 5_000).toISOString()
  const { key } = await store.create({ ...request, expiresAt })
  const other = await openStore(t)

  nowMs += 4_999
  assert.deepEqual([store.find(key) !== null, other.find(key) !== null], [true, true])
  nowMs += 1
  assert.deepEqual([store.find(key), other.find(key)], [null, null])
})

test('a store that cannot read lets nobody in after 30 seconds, while another one goes on', async (t) => {
  let isAway = false
  const flaky: Warehouse = {
    ...warehouse,
    rows: async (sql, params) => {
      if (isAway) throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'away')
      return await warehouse.rows(sql, params)
    },
  }
  const options = { clock, log: silent, adminKey, refreshMs: 3_600_000 }
  const cutOff = await openKeyStore({ ...options, warehouse: flaky })
  t.after(() => cutOff.close())
  const store = await openStore(t)
  const { id, key } = await store.create(request)
  await cutOff.refresh()
  isAway = true
  await store.revoke(id)

  nowMs += limits.listAgeMsMax
  await assert.rejects(cutOff.refresh(), /away/)
  await store.refresh()
  assert.notEqual(cutOff.find(key), null, 'it cannot know yet')
  nowMs += 1
  assert.throws(() => cutOff.find(key), isStale)
  assert.equal(store.find(key), null)
  isAway = false
  await cutOff.refresh()

  assert.equal(cutOff.find(key), null)
})

test('a clock that is set back makes no view fresh', async (t) => {
  const store = await openStore(t)
  const { key } = await store.create(request)
  await store.refresh()
  const beforeMs = nowMs
  t.after(() => {
    nowMs = beforeMs
  })

  nowMs -= limits.listAgeMsMax + 1

  assert.throws(() => store.find(key), isStale)
  await store.refresh()
  assert.notEqual(store.find(key), null)
})

test('a key is for the publishers it was made for; one stored without any is for none', async (t) => {
  const store = await openStore(t)
  const forShop = await store.create({ name: 'n', publishers: [10], scopes: ['intake:read'] })
  const forAll = await store.create({ ...request, publishers: 'all', scopes: ['intake:read'] })
  const old = await store.create(request)
  const [row] = await warehouse.rows<{ body: string }>(
    `SELECT body FROM catalog_entry WHERE kind = 'key' AND id = {id:String} LIMIT 1`,
    { id: old.id }
  )
  const { publishers: _, ...body } = JSON.parse(row?.body ?? '') as Record<string, unknown>
  const stored = { kind: 'key', id: old.id, body: JSON.stringify(body), version: nowMs * 2_000 }
  await warehouse.insert('catalog_entry', Buffer.from(`${JSON.stringify(stored)}\n`))

  const other = await openStore(t)

  const partiesOf = (token: string) => {
    const key = other.find(token)
    return [key?.advertisers, key?.publishers]
  }
  assert.deepEqual(partiesOf(forShop.key), [[], [10]])
  assert.deepEqual(partiesOf(forAll.key), [[1], 'all'])
  assert.deepEqual(partiesOf(old.key), [[1], []])
  assert.deepEqual(other.find(adminKey)?.publishers, 'all')
})

function isStale(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'ACCESS_STALE'
}

test('a view older than 30 seconds lets no key in but that of the configuration', async (t) => {
  const store = await openStore(t)
  const { key } = await store.create(request)
  await store.refresh()

  nowMs += limits.listAgeMsMax
  assert.notEqual(store.find(key), null)
  nowMs += 1
  assert.throws(() => store.find(key), isStale)
  assert.throws(() => store.find('st_unknown'), isStale)
  assert.equal(store.find(adminKey)?.isConfigured, true)
  await store.refresh()

  assert.notEqual(store.find(key), null)
})

test('a key that was found is valid until it expires or is revoked, also by a view that is old', async (t) => {
  const store = await openStore(t)
  const expiresAt = new Date(nowMs + 60_000).toISOString()
  const brief = found(store, (await store.create({ ...request, expiresAt })).key)
  const revoked = await store.create(request)
  const other = await openStore(t)
  const [one, another] = [found(store, revoked.key), found(other, revoked.key)]
  assert.deepEqual(
    [store.isValid(brief), store.isValid(one), other.isValid(another)],
    [true, true, true]
  )

  await store.revoke(revoked.id)
  assert.equal(store.isValid(one), false)
  assert.equal(other.isValid(another), true, 'it cannot know yet')
  await other.refresh()
  assert.equal(other.isValid(another), false)

  nowMs += 59_999
  assert.equal(store.isValid(brief), true, 'a view that is too old lets nobody new in')
  nowMs += 1
  assert.equal(store.isValid(brief), false)
})

test('the key of the configuration stays valid, and one that no entry tells of is not', async (t) => {
  const store = await openStore(t)
  const configured = found(store, adminKey)

  nowMs += limits.listAgeMsMax + 1

  assert.equal(store.isValid(configured), true)
  assert.equal(store.isValid({ ...configured, id: 'key_none', isConfigured: false }), false)
})

function found(store: KeyStore, token: string): AccessKey {
  const key = store.find(token)
  assert.ok(key !== null)
  return key
}

test('the key of the configuration may do everything and is not listed', async (t) => {
  const store = await openStore(t)

  const key = store.find(adminKey)

  assert.equal(key?.advertisers, 'all')
  assert.ok(key?.scopes.includes('admin'))
  assert.ok(store.list().every(({ isConfigured }) => !isConfigured))
})

test('a blank, short or unprintable admin key is refused at construction, and not repeated', async () => {
  for (const bad of ['', ' '.repeat(43), 'short', `${'a'.repeat(40)} b`, 'ä'.repeat(43)]) {
    await assert.rejects(
      openKeyStore({ warehouse, clock, log: silent, adminKey: bad }),
      (error) =>
        error instanceof ServiceError &&
        error.code === 'CONFIG_INVALID' &&
        (bad.trim() === '' || !error.message.includes(bad))
    )
  }
})
