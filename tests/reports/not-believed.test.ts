import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import { notBelievedLimits } from '../../src/contract/not-believed.ts'
import {
  createRecentNotBelieved,
  findBelieveEverybody,
  readNotBelievedOfAll,
} from '../../src/ops/not-believed.ts'
import { insertRecords } from '../../src/pipeline/insert-batch.ts'
import { readNotBelieved } from '../../src/reports/not-believed.ts'
import type { ConversionRecord, ReturnRecord } from '../../src/spool/record.ts'
import { aConversion, aLine, aReturn, aShipment } from '../helpers/shipment.ts'
import type { Shipment } from '../helpers/shipment.ts'

const nowMs = Date.now()
const hourMs = 3_600_000
const dayMs = 24 * hourMs
let shipment: Shipment
let serial = 0
const closers: (() => void | Promise<void>)[] = []

before(async () => {
  shipment = await aShipment({ after: (close) => closers.push(close) })
})
after(async () => {
  for (const close of closers.toReversed()) await close()
})

type Sent = ConversionRecord | ReturnRecord

/** The verdict is that of the record's key, which stands for it. Returns the ids of the deliveries. */
async function ship(records: readonly Sent[]): Promise<readonly string[]> {
  const entries = records.map((record) => ({
    key: String((serial += 1)).padStart(32, '0'),
    record,
  }))
  const deliveryJudge = {
    prepare: () => Promise.resolve(),
    judge: ({ presentedKey }: Sent) => ({
      verdict:
        presentedKey === 'none'
          ? ('valid' as const)
          : presentedKey === 'malformed'
            ? ('unauthenticated' as const)
            : ('untrusted-source' as const),
      keyKind: 'none' as const,
      keyId: '',
    }),
  }
  const rowContext = { ...shipment.deps.rowContext, deliveryJudge }
  await insertRecords({ ...shipment.deps, rowContext }, () => [{ entries, broken: [] }])
  return entries.map(({ key }) => key)
}

function sent(publisherId: number, receivedAtMs: number, presentedKey: string) {
  return { publisherId, receivedAtMs, presentedKey, transactionId: `t-${(serial += 1)}` }
}

async function read(publisherId: number, range = { fromMs: nowMs - 30 * dayMs, toMs: nowMs }) {
  return await readNotBelieved(shipment.warehouse, { publisherId, ...range })
}

test('what is not believed is told by kind and reason, with its value in every currency, exactly once', async () => {
  const first = nowMs - 5 * hourMs
  const lines = [aLine({ price: 0.1, quantity: 3 }), aLine({ price: 10, quantity: 1 })]
  const records = [
    aConversion({ ...sent(50, first, 'malformed'), lines }),
    aConversion({ ...sent(50, first + hourMs, 'malformed'), lines }),
    aConversion({
      ...sent(50, first + 2 * hourMs, 'malformed'),
      currency: 'JPY',
      lines: [aLine({ price: 5 })],
    }),
    aConversion(sent(50, first, 'elsewhere')),
    aConversion(sent(50, first, 'none')),
    aReturn(sent(50, first, 'elsewhere')),
    aConversion(sent(51, first, 'elsewhere')),
  ]
  const firstSerial = serial
  await ship(records)
  // As after a crash between insertion and removal.
  serial = firstSerial
  await ship(records)

  const firstReceivedAt = new Date(first).toISOString()
  const same = { publisherId: 50, firstReceivedAt, lastReceivedAt: firstReceivedAt, deliveries: 1 }
  const groups = await read(50)
  assert.deepEqual(groups[0], {
    ...same,
    kind: 'conversion',
    reason: 'unauthenticated',
    deliveries: 3,
    values: [
      { currency: 'EUR', value: '20.60' },
      { currency: 'JPY', value: '5' },
    ],
    lastReceivedAt: new Date(first + 2 * hourMs).toISOString(),
  })
  assert.deepEqual(
    new Set(groups.slice(1)),
    new Set([
      {
        ...same,
        kind: 'conversion',
        reason: 'untrusted-source',
        values: [{ currency: 'EUR', value: '19.99' }],
      },
      { ...same, kind: 'return', reason: 'untrusted-source', values: [] },
    ])
  )
})

async function countOf(publisherId: number, fromMs: number, toMs: number): Promise<number> {
  return (await read(publisherId, { fromMs, toMs })).length
}

test('a range has its start and not its end', async () => {
  await ship([aConversion(sent(52, nowMs - dayMs, 'malformed'))])

  assert.equal(await countOf(52, nowMs - dayMs, nowMs), 1)
  assert.equal(await countOf(52, nowMs - dayMs + 1, nowMs), 0)
  assert.equal(await countOf(52, nowMs - 2 * dayMs, nowMs - dayMs), 0)
})

test('a judgement takes a delivery off the list and puts another one on it', async () => {
  const ids = await ship([
    aConversion(sent(53, nowMs - hourMs, 'malformed')),
    aConversion(sent(53, nowMs - hourMs, 'none')),
    aConversion(sent(53, nowMs - hourMs, 'none')),
  ])
  const keys = await shipment.warehouse.rows<{ id: string; purchase: string }>(
    `SELECT lower(hex(delivery_id)) AS id, lower(hex(purchase_key)) AS purchase FROM delivery FINAL
     WHERE publisher_id = 53 ORDER BY id`
  )
  const judged = new Date(nowMs + hourMs).toISOString().replace('T', ' ').replace('Z', '')
  const verdicts = ['valid', 'untrusted-source', 'void']
  const rows = keys.map(({ id, purchase }) =>
    JSON.stringify({
      purchase_key: purchase,
      delivery_id: id,
      judged_at: judged,
      judgement_id: 'j',
      verdict: verdicts[ids.indexOf(id)],
    })
  )
  await shipment.warehouse.insert('delivery_judgement_in', Buffer.from(`${rows.join('\n')}\n`))

  const groups = await read(53)

  assert.deepEqual(
    groups.map(({ reason, deliveries }) => [reason, deliveries]),
    [['untrusted-source', 1]]
  )
})

test('the status has the largest groups of all publishers, and metrics those of a day, read once a minute', async () => {
  const many = notBelievedLimits.groupsMax + 3
  await ship(
    Array.from({ length: many }, (_, index) =>
      aConversion(sent(1_000 + index, nowMs - 2 * dayMs, 'malformed'))
    )
  )
  await ship([1, 2].map(() => aConversion(sent(2_000, nowMs - hourMs, 'malformed'))))

  const { groups, total } = await readNotBelievedOfAll(shipment.warehouse, nowMs)
  assert.equal(groups.length, notBelievedLimits.groupsMax)
  assert.ok(total > many)
  assert.ok(groups.some(({ publisherId, deliveries }) => publisherId === 2_000 && deliveries === 2))

  let askedCount = 0
  let atMs = nowMs
  const rows: (typeof shipment.warehouse)['rows'] = async (sql, params) => {
    askedCount += 1
    return await shipment.warehouse.rows(sql, params)
  }
  const recent = createRecentNotBelieved({ warehouse: { rows }, clock: () => atMs })
  const ids = new Set((await recent()).map(({ publisherId }) => publisherId))
  assert.deepEqual([ids.has(2_000), ids.has(1_000)], [true, false])
  atMs += 60_000
  await recent()
  assert.equal(askedCount, 1)
  atMs += 1
  await recent()
  assert.equal(askedCount, 2)
})

function aPublisher(id: number, changes: object = {}) {
  return { id, name: `Shop ${id}`, ...changes }
}

test('publishers that believe everybody are named, the first of them only', () => {
  const few = extendSnapshot(emptySnapshot, {
    publishers: [
      aPublisher(5),
      aPublisher(4, { requireKey: true }),
      aPublisher(3, { conversionSources: ['192.0.2.0/24'] }),
      aPublisher(2, { requireKey: false, conversionSources: [] }),
      aPublisher(1, { active: false }),
    ],
  })
  const many = extendSnapshot(emptySnapshot, {
    publishers: Array.from({ length: 1_000 }, (_, index) => aPublisher(index + 1)),
  })
  const idsOf = (snapshot: typeof few, requiresKey: boolean) => {
    const { publishers, total } = findBelieveEverybody(snapshot, { requiresKey })
    return { ids: publishers.map(({ id }) => id), total }
  }

  assert.deepEqual(idsOf(few, false), { ids: [2, 5], total: 2 })
  assert.deepEqual(idsOf(few, true), { ids: [2], total: 1 })
  assert.deepEqual(findBelieveEverybody(few, { requiresKey: true }).publishers, [
    { id: 2, name: 'Shop 2' },
  ])
  const shown = idsOf(many, false)
  assert.deepEqual([shown.ids.length, shown.total], [notBelievedLimits.publishersMax, 1_000])
})
