import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { readAuditExport, type AuditExportPage } from '../../src/access/audit-export.ts'
import { AuditTrail } from '../../src/access/audit-trail.ts'
import { hashRecord, parseHead, printHead } from '../../src/domain/audit-chain.ts'
import type { ChainedRecord } from '../../src/domain/audit-chain.ts'
import { AuditVerifier, type AuditVerdict } from '../../src/domain/audit-verifier.ts'
import { ServiceError } from '../../src/errors.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aKey } from '../campaign/harness.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'

const startMs = Date.UTC(2026, 2, 1)
let warehouse: Warehouse
let nowMs = startMs
const clock = () => nowMs

before(async () => {
  warehouse = await openMigratedWarehouse()
})
after(() => warehouse.close())
beforeEach(async () => {
  nowMs = startMs
  await warehouse.command('TRUNCATE TABLE audit')
})

function aTrail(changes: Partial<Pick<Warehouse, 'insert' | 'rows'>> = {}): AuditTrail {
  return new AuditTrail({ warehouse: { ...warehouse, ...changes }, clock })
}

async function write(trail: AuditTrail, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    nowMs += 1_000
    await trail.record({
      key: aKey({ name: 'Ada ✓ \ud800' }),
      action: 'key.create',
      subject: `s${index} "ü"\n`,
      details: { text: 'é\u2028\ud800', list: [1, 'x'] },
    })
  }
}

async function readAll(limit = 1_000): Promise<readonly ChainedRecord[]> {
  const records: ChainedRecord[] = []
  let place: AuditExportPage['next'] = null
  do {
    const page: AuditExportPage = await readAuditExport(warehouse, {
      fromMs: null,
      toMs: null,
      after: place,
      limit,
    })
    records.push(...page.records)
    place = page.next
  } while (place !== null)
  return records
}

interface Verifying {
  readonly heads?: readonly string[]
  readonly isPart?: boolean
}

function verify(records: readonly ChainedRecord[], options: Verifying = {}): AuditVerdict {
  const heads = (options.heads ?? []).flatMap((text) => parseHead(text) ?? [])
  const verifier = new AuditVerifier({ heads, isPart: options.isPart ?? false })
  for (const record of records) verifier.take(record)
  return verifier.end()
}

function faultOf(records: readonly ChainedRecord[], options: Verifying = {}) {
  const { fault } = verify(records, options)
  if (fault === null) return null
  return fault.kind === 'unchained' ? fault.kind : [fault.kind, fault.head.sequence]
}

function at(records: readonly ChainedRecord[], index: number): ChainedRecord {
  return records.at(index) ?? assert.fail(`there is a record ${index}`)
}

/** One writer with ten records. */
async function aChain(): Promise<readonly ChainedRecord[]> {
  await write(aTrail(), 10)
  return await readAll()
}

test('the chain of a writer is whole, whatever is in its records, and its head is the last of them', async () => {
  const records = await aChain()

  const { fault, recordCount, heads, beginsAt } = verify(records)

  assert.equal(fault, null)
  assert.deepEqual([recordCount, beginsAt], [10, '2026-03-01T00:00:01.000000Z'])
  assert.deepEqual(heads.map(printHead), [printHead(at(records, -1))])
})

test('pages of any size give the same records', async () => {
  const whole = await aChain()

  for (const limit of [1, 3, 10]) assert.deepEqual(await readAll(limit), whole)
})

test('a range holds its first instant and not its last, and is verified as a part', async () => {
  await aChain()
  const { records } = await readAuditExport(warehouse, {
    fromMs: startMs + 4_000,
    toMs: startMs + 7_000,
    after: null,
    limit: 100,
  })

  assert.deepEqual(
    records.map(({ sequence }) => sequence),
    [4, 5, 6]
  )
  assert.deepEqual(faultOf(records), ['missing', 1])
  assert.equal(faultOf(records, { isPart: true }), null)
})

const changes: readonly (readonly [keyof ChainedRecord, unknown])[] = [
  ['at', '2026-03-01T00:00:05.000001Z'],
  ['id', 'x'],
  ['keyId', 'key_other'],
  ['keyName', 'Eve'],
  ['action', 'key.revoke'],
  ['subject', 's'],
  ['details', '{}'],
  ['writer', '00000000-0000-4000-8000-000000000000'],
  ['previousHash', 'a'.repeat(64)],
  ['hash', 'a'.repeat(64)],
  ['heads', ['x']],
]
for (const [field, value] of changes) {
  test(`a record whose ${field} was changed is found`, async () => {
    const records = await aChain()

    const changed = records.with(4, { ...at(records, 4), [field]: value })

    assert.deepEqual(faultOf(changed), ['changed', 5])
  })
}

test('a record that was changed and given its own hash again is found by the next one', async () => {
  const records = await aChain()
  const forged = { ...at(records, 4), subject: 'forged' }

  const changed = records.with(4, { ...forged, hash: hashRecord(forged) })

  assert.deepEqual(faultOf(changed), ['changed', 5])
})

test('a record that is missing, stands twice, or stands elsewhere is found as such', async () => {
  const records = await aChain()
  const moved = [
    ...records.slice(0, 3),
    ...records.slice(4, 7),
    at(records, 3),
    ...records.slice(7),
  ]

  assert.deepEqual(faultOf(records.toSpliced(3, 1)), ['missing', 4])
  assert.deepEqual(faultOf(records.slice(1)), ['missing', 1])
  assert.deepEqual(faultOf(records.toSpliced(3, 0, at(records, 3))), ['repeated', 4])
  assert.deepEqual(faultOf(moved), ['out-of-order', 4])
  assert.deepEqual(faultOf(records.toReversed()), ['out-of-order', 1])
})

test('a tail that was removed is seen with a head that was kept elsewhere, and only then', async () => {
  const records = await aChain()
  const head = printHead(at(records, -1))
  const cut = records.slice(0, 7)

  assert.equal(faultOf(cut), null)
  assert.deepEqual(faultOf(cut, { heads: [head] }), ['head', 10])
  assert.equal(faultOf(records, { heads: [head, printHead(at(records, 2))] }), null)
})

test('a chain that was written anew from some record on is seen with a head of before', async () => {
  const records = await aChain()
  const rewritten: ChainedRecord[] = []
  for (const record of records) {
    const previousHash = rewritten.at(-1)?.hash ?? record.previousHash
    const forged = { ...record, previousHash, keyName: 'Eve' }
    rewritten.push({ ...forged, hash: hashRecord(forged) })
  }

  assert.equal(faultOf(rewritten), null)
  assert.deepEqual(faultOf(rewritten, { heads: [printHead(at(records, 5))] }), ['head', 6])
})

test('the tail of a process that ended is seen to be removed: the next process names it', async () => {
  await write(aTrail(), 5)
  await write(aTrail(), 5)
  const records = await readAll()
  const [first = ''] = records.map(({ writer }) => writer)

  assert.equal(faultOf(records), null)
  assert.deepEqual(at(records, 5).heads, [printHead(at(records, 4))])
  assert.deepEqual(faultOf(records.toSpliced(4, 1)), ['head', 5])
  assert.deepEqual(faultOf(records.filter(({ writer }) => writer !== first)), ['head', 5])
})

test('two writers at once are two whole chains that name each other as they grow', async () => {
  const [one, other] = [aTrail(), aTrail()]
  for (let round = 0; round < 4; round += 1) {
    await Promise.all([write(one, 3), write(other, 3)])
    nowMs += 600_000
  }
  const records = await readAll()
  const writers = new Set(records.map(({ writer }) => writer))
  const named = new Set(records.flatMap(({ writer, heads }) => (heads.length > 0 ? [writer] : [])))

  assert.equal(faultOf(records), null)
  assert.deepEqual([writers.size, named.size], [2, 2])
  assert.deepEqual(
    verify(records).heads.map(({ sequence }) => sequence),
    [12, 12]
  )
})

test('a head is named once, so that many restarts make no record long', async () => {
  for (let start = 0; start < 6; start += 1) await write(aTrail(), 1)

  const records = await readAll()

  assert.deepEqual(
    records.map(({ heads }) => heads.length),
    [0, 1, 1, 1, 1, 1]
  )
  assert.equal(faultOf(records), null)
})

for (const [what, isStored] of [
  ['was stored all the same', true],
  ['was not stored', false],
] as const) {
  test(`after a write that failed and ${what}, the record is whole`, async () => {
    let isBroken = false
    const trail = aTrail({
      insert: async (table, lines) => {
        if (!isBroken || isStored) await warehouse.insert(table, lines)
        if (isBroken) throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'cut')
      },
    })
    await write(trail, 3)
    isBroken = true
    await assert.rejects(write(trail, 1), ServiceError)
    isBroken = false
    await write(trail, 3)
    const records = await readAll()

    assert.equal(faultOf(records), null)
    assert.equal(records.length, isStored ? 7 : 6)
    assert.deepEqual(at(records, isStored ? 4 : 3).heads, [
      printHead(at(records, isStored ? 3 : 2)),
    ])
  })
}

test('records that wait over the turn of a month are written in one insert each', async () => {
  const inserts: string[] = []
  const trail = aTrail({
    insert: async (table, lines) => {
      inserts.push(lines.toString())
      await warehouse.insert(table, lines)
    },
  })
  nowMs = Date.UTC(2026, 2, 31, 23, 59, 59)
  const record = (subject: string) => trail.record({ key: aKey(), action: 'key.create', subject })
  const written = [record('a'), record('b'), record('c')]
  nowMs = Date.UTC(2026, 3, 1)
  written.push(record('d'), record('e'))
  await Promise.all(written)

  const counts = inserts.map((text) => text.trimEnd().split('\n').length)
  assert.deepEqual(counts, [1, 2, 2])
  assert.equal(faultOf(await readAll()), null)
})

function anOldRow(atText: string) {
  return {
    at: atText,
    id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    key_id: 'key_1',
    key_name: 'Ada',
    action: 'key.create',
    subject: 's',
    details: '{}',
  }
}

test('records of before the upgrade stay as they are, and one of them behind the beginning is found', async () => {
  const columns = ['writer', 'sequence', 'previous_hash', 'hash', 'heads']
  for (const column of columns) await warehouse.command(`ALTER TABLE audit DROP COLUMN ${column}`)
  const insertOld = async (atText: string) =>
    await warehouse.insert('audit', Buffer.from(`${JSON.stringify(anOldRow(atText))}\n`))
  await insertOld('2026-02-01 00:00:00.000000')
  const name = '0022-audit-chain.sql'
  await warehouse.command('DELETE FROM migration WHERE name = {name:String}', { name })
  await migrate(warehouse)
  await write(aTrail(), 2)
  const upgraded = verify(await readAll())
  await insertOld('2026-03-05 00:00:00.000000')

  assert.equal(upgraded.fault, null)
  assert.deepEqual([upgraded.recordCount, upgraded.unchainedCount], [3, 1])
  assert.equal(upgraded.beginsAt, '2026-03-01T00:00:01.000000Z')
  assert.equal(faultOf(await readAll()), 'unchained')
})

test('a page ends early when details are long, and loses nothing', async () => {
  const trail = aTrail()
  const details = { text: 'x'.repeat(19_000) }
  const count = 500
  const written = Array.from({ length: count }, () =>
    trail.record({ key: aKey(), action: 'key.create', subject: 's', details })
  )
  await Promise.all(written)

  const { records, next } = await readAuditExport(warehouse, {
    fromMs: null,
    toMs: null,
    after: null,
    limit: 1_000,
  })

  assert.ok(records.length < count && records.length > 400, String(records.length))
  assert.notEqual(next, null)
  assert.equal((await readAll()).length, count)
})

test('the form is the one that the documents describe: a record made by hand has this hash', () => {
  const record: Omit<ChainedRecord, 'hash'> = {
    at: '2026-03-01T00:00:01.000000Z',
    id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    keyId: 'key_1',
    keyName: 'Zoë',
    action: 'key.revoke',
    subject: 'key_2',
    details: '{}',
    writer: '9b2b6a54-0b0e-4c52-8a6a-6f3c1f0d2a11',
    sequence: 1,
    previousHash: '0'.repeat(64),
    heads: [],
  }

  assert.equal(
    hashRecord(record),
    '718532266398cc90b456aadc7cf9afe7bdc69bfa8d95431edc7bb266573a0950'
  )
})

test('the head of the chain is logged with the first record, and again after ten minutes', async () => {
  const heads: object[] = []
  const log = { info: (fields: object) => void heads.push(fields) }
  const trail = new AuditTrail({ warehouse, clock, log })
  await write(trail, 5)
  nowMs += 600_000
  await write(trail, 1)
  const records = await readAll()

  assert.deepEqual(heads, [
    { head: printHead(at(records, 0)) },
    { head: printHead(at(records, 5)) },
  ])
})
