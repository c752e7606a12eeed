import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findJudgement,
  listJudgements,
  requestJudgement,
} from '../../../src/attribution/judging/judgement-requests.ts'
import { noTally } from '../../../src/attribution/judging/tally.ts'
import type { Params, Warehouse } from '../../../src/warehouse/warehouse.ts'
import { openPolicy } from '../../helpers/incident.ts'
import { openTestWarehouse } from '../../helpers/test-warehouse.ts'

const order = {
  publisherId: 10,
  fromMs: Date.UTC(2026, 2, 2),
  toMs: Date.UTC(2026, 2, 4),
  reason: 'a test',
  isDryRun: false,
  assume: null,
  pinned: { policy: openPolicy, keys: [] },
  key: { id: '', name: '' },
}

interface Part {
  readonly judgementId: string
  readonly scan: number
  readonly part: string
  readonly isDone: 0 | 1
  readonly looked: number
}

async function addPart(warehouse: Warehouse, { looked, ...part }: Part): Promise<void> {
  await warehouse.command(
    `INSERT INTO judgement_part (judgement_id, scan, part, is_done, began_at, tally)
     SELECT {judgementId:String}, {scan:UInt32}, {part:String}, {isDone:UInt8}, now64(6), {tally:String}`,
    { ...part, tally: JSON.stringify({ ...noTally, counts: { ...noTally.counts, looked } }) }
  )
}

test('a list shows each judgement as a look for it alone does, newest first, by the parts of its last scan', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) ids.push((await requestJudgement(warehouse, order)).id)
  const [first = '', second = ''] = ids
  const common = { isDone: 1, looked: 7 } as const
  await addPart(warehouse, { ...common, judgementId: first, scan: 1, part: '2026-03-02' })
  await addPart(warehouse, { ...common, judgementId: first, scan: 1, part: '2026-03-03' })
  await addPart(warehouse, { ...common, judgementId: second, scan: 1, part: '2026-03-02' })
  await addPart(warehouse, {
    judgementId: second,
    scan: 2,
    part: '2026-03-02',
    isDone: 1,
    looked: 5,
  })
  await addPart(warehouse, {
    judgementId: second,
    scan: 2,
    part: '2026-03-03',
    isDone: 0,
    looked: 9,
  })

  const listed = await listJudgements(warehouse, 10)

  assert.deepEqual(
    listed.map(({ id, scan, partsDone, deliveries }) => ({
      id,
      scan,
      partsDone,
      looked: deliveries.looked,
    })),
    [
      { id: ids[2], scan: 1, partsDone: 0, looked: 0 },
      { id: second, scan: 2, partsDone: 1, looked: 5 },
      { id: first, scan: 1, partsDone: 2, looked: 14 },
    ]
  )
  for (const one of listed) assert.deepEqual(await findJudgement(warehouse, one.id), one)
})

test('a list of a hundred judgements takes three statements, one of a few takes two', async (t) => {
  const warehouse = await openTestWarehouse(t)
  let statementCount = 0
  const counting = {
    barrier: (tables: Parameters<Warehouse['barrier']>[0]) => warehouse.barrier(tables),
    rows: async <Row>(sql: string, params?: Params): Promise<Row[]> => {
      statementCount += 1
      return await warehouse.rows<Row>(sql, params)
    },
  }
  for (let count = 0; count < 100; count += 1) await requestJudgement(warehouse, order)

  assert.equal((await listJudgements(counting, 100)).length, 100)
  assert.equal(statementCount, 3)

  statementCount = 0
  assert.equal((await listJudgements(counting, 5)).length, 5)
  assert.equal(statementCount, 2)
})
