import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { openServerLanes } from '../../src/warehouse/server-lanes.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import type { Topology } from '../../src/warehouse/topology.ts'
import { warehouseTables } from '../../src/warehouse/warehouse.ts'
import type { WarehouseLanes } from '../../src/warehouse/warehouse.ts'
import { startClickHouseStandIn, standInCredentials } from '../helpers/clickhouse-stand-in.ts'
import type { StandIn } from '../helpers/clickhouse-stand-in.ts'
import { asReplica, startReplicaFront } from '../helpers/replica-front.ts'
import type { FrontFault, ReplicaFront } from '../helpers/replica-front.ts'
import {
  aConversion,
  aReturn,
  aShipment,
  anEvent,
  append,
  shipBatch,
  snapshot,
  withRemove,
} from '../helpers/shipment.ts'

let standIn: StandIn

// One database for all, because a migration is a hundred statements.
before(async () => {
  standIn = await startClickHouseStandIn()
  await standIn.behave(asReplica)
  const warehouse = openServerWarehouse({ url: standIn.url })
  await migrate(warehouse, undefined, 'cluster')
  await warehouse.close()
})

after(() => standIn.close())

interface Cluster {
  readonly lanes: WarehouseLanes
  /** The replica of the process, then the other one. */
  readonly first: ReplicaFront
  readonly second: ReplicaFront
  readonly moves: string[]
}

async function openCluster(t: TestContext, topology: Topology = 'cluster'): Promise<Cluster> {
  const fronts = [await startReplicaFront(standIn), await startReplicaFront(standIn)]
  const moves: string[] = []
  const lanes = openServerLanes({
    urls: fronts.map(({ url }) => url),
    quorum: 'auto',
    nodeId: 'node',
    onMove: ({ from, to }) => moves.push(`${from} to ${to}`),
  })
  t.after(async () => {
    await lanes.close()
    await Promise.all(fronts.map((front) => front.close()))
  })
  lanes.adopt(topology)
  await lanes.pipeline.rows('SELECT 1')
  const [first, second] = fronts.toSorted(
    (one, other) => other.takeStatements().length - one.takeStatements().length
  )
  assert.ok(first !== undefined && second !== undefined)
  return { lanes, first, second, moves }
}

async function askAll({ pipeline, lookups, reports }: WarehouseLanes): Promise<void> {
  for (const lane of [pipeline, lookups, reports]) {
    await lane.rows('SELECT 1')
    await lane.command('SELECT 2')
    for await (const block of lane.stream('SELECT 3')) assert.ok(block.length > 0)
  }
}

const everything: FrontFault['isHit'] = () => true

test('all lanes of a process send everything to one replica', async (t) => {
  const { lanes, first, second } = await openCluster(t)

  await askAll(lanes)
  await lanes.pipeline.insert('audit', Buffer.from('{"id":"1"}\n'))

  assert.equal(first.takeStatements().length, 10)
  assert.deepEqual(second.takeStatements(), [])
})

test('statements of a cluster carry its settings, and those of one server do not', async (t) => {
  for (const [topology, expected] of [
    ['cluster', 'auto'],
    ['single', undefined],
    ['cloud', undefined],
  ] as const) {
    const { lanes } = await openCluster(t, topology)

    await lanes.pipeline.insert('audit', Buffer.from('{"id":"1"}\n'))
    await lanes.pipeline.command('INSERT INTO rollup_begun SELECT * FROM rollup_begun')
    await lanes.reports.rows('SELECT 1')

    for (const { settings } of (await standIn.requests()).slice(-3)) {
      assert.equal(settings['insert_quorum'], expected)
      assert.equal(settings['insert_quorum_timeout'], expected && '60000')
      assert.equal(settings['insert_keeper_max_retries'], expected && '5')
      assert.equal(
        settings['select_sequential_consistency'],
        topology === 'cloud' ? '1' : undefined
      )
    }
  }
})

const moving: readonly (readonly [string, FrontFault])[] = [
  ['is away', { isHit: everything, kind: 'cut' }],
  ['is read-only', { isHit: everything, kind: 'code', code: 242 }],
  ['has no active replica', { isHit: everything, kind: 'code', code: 254 }],
  ['cannot connect to others', { isHit: everything, kind: 'code', code: 279 }],
]

for (const [condition, fault] of moving) {
  test(`a process whose replica ${condition} goes on at the other, which first fetches every table`, async (t) => {
    const { lanes, first, second, moves } = await openCluster(t)
    first.fail(fault)

    await assert.rejects(lanes.pipeline.rows('SELECT 1'), { code: 'WAREHOUSE_UNAVAILABLE' })
    await lanes.reports.rows('SELECT 2')

    assert.deepEqual(moves, [`${first.host} to ${second.host}`])
    const synced = second.takeStatements()
    const [tables, database] = ['SYSTEM SYNC REPLICA', 'SYSTEM SYNC DATABASE REPLICA'].map(
      (start) => synced.filter((statement) => statement.startsWith(start))
    )
    assert.equal(database?.length, 1)
    assert.deepEqual(
      tables?.toSorted(),
      warehouseTables.map((table) => `SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT`)
    )
    assert.match(synced.at(-1) ?? '', /^SELECT 2/)
    first.takeStatements()
    await askAll(lanes)
    assert.deepEqual(first.takeStatements(), [], 'all lanes have moved')
  })
}

for (const code of [159, 202, 285, 319, 516]) {
  test(`a failure that is not the replica's alone (${code}) moves nobody`, async (t) => {
    const { lanes, first, second, moves } = await openCluster(t)
    first.fail({ isHit: everything, kind: 'code', code })

    await assert.rejects(lanes.pipeline.rows('SELECT 1'), { code: 'WAREHOUSE_UNAVAILABLE' })
    first.fail(null)
    await lanes.pipeline.rows('SELECT 1')

    assert.deepEqual(moves, [])
    assert.deepEqual(second.takeStatements(), [])
  })
}

test('a reader that gives up a stream leaves the process where it is', async (t) => {
  const { lanes, moves } = await openCluster(t)
  const controller = new AbortController()

  await assert.rejects(async () => {
    const stream = lanes.reports.stream('SELECT number FROM numbers(1e6)', {}, controller.signal)
    for await (const block of stream) {
      assert.ok(block.length > 0)
      controller.abort()
    }
  })
  for await (const block of lanes.reports.stream('SELECT number FROM numbers(1e6)')) {
    assert.ok(block.length > 0)
    break
  }
  await askAll(lanes)

  assert.deepEqual(moves, [])
})

test('a barrier fetches its tables on the replica of the process, and costs nothing on one server', async (t) => {
  const { lanes, first, second } = await openCluster(t)
  await lanes.pipeline.barrier(['delivery', 'purchase'])
  assert.deepEqual(first.takeStatements().toSorted(), [
    'SYSTEM SYNC REPLICA delivery LIGHTWEIGHT',
    'SYSTEM SYNC REPLICA purchase LIGHTWEIGHT',
  ])
  assert.deepEqual(second.takeStatements(), [])

  for (const topology of ['single', 'cloud'] as const) {
    const one = await openCluster(t, topology)
    await one.lanes.pipeline.barrier(['delivery', 'purchase'])
    assert.deepEqual([...one.first.takeStatements(), ...one.second.takeStatements()], [])
  }
})

for (const code of [159, 242, 36]) {
  test(`a barrier that its replica cannot pass (${code}) is WAREHOUSE_UNAVAILABLE, and the next one is on the other`, async (t) => {
    const { lanes, first, second, moves } = await openCluster(t)
    first.fail({ isHit: (statement) => statement.includes('SYNC'), kind: 'code', code })

    await assert.rejects(lanes.pipeline.barrier(['delivery']), (error) => {
      assert.ok(error instanceof ServiceError)
      assert.equal(error.code, 'WAREHOUSE_UNAVAILABLE')
      assert.deepEqual(error.details, {})
      return true
    })
    await lanes.pipeline.barrier(['delivery'])

    assert.deepEqual(moves, [`${first.host} to ${second.host}`])
    assert.equal(second.takeStatements().at(-1), 'SYSTEM SYNC REPLICA delivery LIGHTWEIGHT')
  })
}

test('neither moves nor failures tell a password', async (t) => {
  const { lanes, first, second, moves } = await openCluster(t)
  const told: unknown[] = []
  for (const front of [first, second]) {
    front.fail({ isHit: everything, kind: 'cut' })
    told.push(await lanes.pipeline.rows('SELECT 1').catch((error: unknown) => error))
  }

  const text = JSON.stringify([moves, told.map(chainOf)])
  const { password } = standInCredentials
  assert.ok(moves.length > 0 && told.every((error) => error instanceof ServiceError))
  for (const secret of [password, encodeURIComponent(password)]) assert.ok(!text.includes(secret))
})

function chainOf(error: unknown): readonly string[] {
  return error instanceof Error ? [String(error.stack), ...chainOf(error.cause)] : []
}

const broken: readonly (readonly [string, Omit<FrontFault, 'isHit'>])[] = [
  ['never reaches the replica', { kind: 'cut' }],
  ['is carried out, and its answer is lost', { kind: 'lose' }],
  ['finds the replica read-only', { kind: 'code', code: 242 }],
  ['is carried out, but its quorum is not reached in time', { kind: 'code-after', code: 319 }],
]

for (const [how, fault] of broken) {
  test(`figures are those of one shipment where each insert in turn ${how}`, async (t) => {
    const { lanes, first, second } = await openCluster(t)
    const { deps, spool, warehouse } = await aShipment(t)
    const records = [
      anEvent(),
      anEvent({ kind: 'impression' }),
      aConversion(),
      aConversion({ transactionId: 'T2' }),
      aReturn(),
    ]
    await append(spool, records)
    // The spool keeps them for the cluster.
    await shipBatch({ ...deps, spool: withRemove(spool, () => Promise.resolve()) })
    for (const table of warehouseTables) await lanes.pipeline.command(`TRUNCATE TABLE ${table}`)
    const hit = new Set<string>()
    const isHit = (statement: string): boolean => {
      const [, table] = /^\s*INSERT INTO (\w+)/u.exec(statement) ?? []
      if (table === undefined || hit.has(table)) return false
      hit.add(table)
      return true
    }
    for (const front of [first, second]) front.fail({ isHit, ...fault })

    let tries = 0
    while (spool.depth().oldestAtMs !== null && tries < 20) {
      tries += 1
      await shipBatch({ ...deps, warehouse: lanes.pipeline }).catch((error: unknown) => {
        assert.ok(error instanceof ServiceError, String(error))
        assert.equal(error.code, 'WAREHOUSE_UNAVAILABLE')
      })
    }

    assert.ok(hit.size >= 3, [...hit].join())
    assert.equal(tries, hit.size + 1)
    assert.deepEqual(await snapshot(lanes.pipeline), await snapshot(warehouse))
  })
}
