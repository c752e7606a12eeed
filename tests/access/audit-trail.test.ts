import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AuditTrail, type AuditQuestion } from '../../src/access/audit-trail.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aKey } from '../campaign/harness.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'

let warehouse: Warehouse
let nowMs = Date.UTC(2026, 2, 1)
const clock = () => nowMs

before(async () => {
  warehouse = await openMigratedWarehouse()
})
after(() => warehouse.close())

/** Each test writes under a key of its own. */
function question(keyId: string, changes: Partial<AuditQuestion> = {}): AuditQuestion {
  return { fromMs: null, toMs: null, action: null, keyId, after: null, limit: 100, ...changes }
}

const record = { action: 'catalog.put', subject: 's' } as const

test('a record says who, what and when, and comes back as it was written', async () => {
  const trail = new AuditTrail({ warehouse, clock })
  const key = aKey({ id: 'key_a', name: 'Ada\n"quoted" ✓' })

  await trail.record({ key, ...record, details: { list: [1, 'zwei'] } })

  const [found] = await trail.find(question('key_a'))
  assert.deepEqual(found?.entry, {
    at: '2026-03-01T00:00:00.000000Z',
    id: found?.place.id,
    keyId: 'key_a',
    keyName: 'Ada\n"quoted" ✓',
    action: 'catalog.put',
    subject: 's',
    details: { list: [1, 'zwei'] },
  })
})

test('records of one millisecond keep their order, newest first, and pages give each once', async () => {
  const trail = new AuditTrail({ warehouse, clock })
  const key = aKey({ id: 'key_b' })
  const subjects = Array.from({ length: 25 }, (_, index) => `s${index}`)
  for (const subject of subjects) await trail.record({ key, ...record, subject })

  const pages: string[] = []
  let place: AuditQuestion['after'] = null
  for (;;) {
    const page = await trail.find(question('key_b', { after: place, limit: 10 }))
    pages.push(...page.map(({ entry }) => entry.subject))
    place = page.at(-1)?.place ?? null
    if (place === null) break
  }

  assert.deepEqual(pages, subjects.toReversed())
})

test('a range holds its first instant and not its last one, and an action is told apart', async () => {
  const trail = new AuditTrail({ warehouse, clock })
  const key = aKey({ id: 'key_c' })
  const firstMs = nowMs + 1_000
  for (const [index, action] of (['key.create', 'key.revoke', 'key.create'] as const).entries()) {
    nowMs = firstMs + index
    await trail.record({ key, action, subject: String(index) })
  }
  const subjects = async (changes: Partial<AuditQuestion>) =>
    (await trail.find(question('key_c', changes))).map(({ entry }) => entry.subject)

  assert.deepEqual(await subjects({ fromMs: firstMs + 1 }), ['2', '1'])
  assert.deepEqual(await subjects({ toMs: firstMs + 1 }), ['0'])
  assert.deepEqual(await subjects({ fromMs: firstMs, toMs: firstMs }), [])
  assert.deepEqual(await subjects({ action: 'key.create' }), ['2', '0'])
  assert.deepEqual(await subjects({ limit: 1 }), ['2'])
})

test('records that come while one is written share the next insert', async () => {
  const inserts: string[] = []
  const gate = { open: () => {}, begin: () => {} }
  const began = new Promise<void>((resolve) => (gate.begin = resolve))
  const watched: Pick<Warehouse, 'insert' | 'rows' | 'barrier'> = {
    rows: (sql, params) => warehouse.rows(sql, params),
    barrier: (tables) => warehouse.barrier(tables),
    insert: async (_table, lines) => {
      inserts.push(lines.toString())
      if (inserts.length > 1) return
      await new Promise<void>((resolve) => {
        gate.open = resolve
        gate.begin()
      })
    },
  }
  const trail = new AuditTrail({ warehouse: watched, clock })
  const written = Array.from({ length: 50 }, () => trail.record({ key: aKey(), ...record }))

  await began
  gate.open()
  await Promise.all(written)

  const lineCounts = inserts.map((text) => text.trimEnd().split('\n').length)
  assert.deepEqual(lineCounts, [1, 49])
})

test('a record that could not be written fails its call, and the next one is tried anew', async () => {
  let isAway = true
  const flaky: Pick<Warehouse, 'insert' | 'rows' | 'barrier'> = {
    rows: (sql, params) => warehouse.rows(sql, params),
    barrier: (tables) => warehouse.barrier(tables),
    insert: async (table, lines) => {
      if (isAway) throw new Error('away')
      await warehouse.insert(table, lines)
    },
  }
  const trail = new AuditTrail({ warehouse: flaky, clock })
  const key = aKey({ id: 'key_d' })

  await assert.rejects(trail.record({ key, ...record, subject: 'lost' }), /away/)
  isAway = false
  await trail.record({ key, ...record, subject: 'kept' })

  const found = await trail.find(question('key_d'))
  assert.deepEqual(
    found.map(({ entry }) => entry.subject),
    ['kept']
  )
})

test('details without an end are cut, what is left out is named, and the rest is kept', async () => {
  const trail = new AuditTrail({ warehouse, clock })
  const key = aKey({ id: 'key_e' })
  const ids = Array.from({ length: 10_000 }, (_, index) => index)

  await trail.record({ key, ...record, details: { id: 7, text: 'x'.repeat(20_001), ids } })

  const [found] = await trail.find(question('key_e'))
  assert.deepEqual(found?.entry.details, {
    id: 7,
    ids: ids.slice(0, 100),
    leftOut: ['ids', 'text'],
  })
})
