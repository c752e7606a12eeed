import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { CatchUp, syncTables } from '../../src/warehouse/replica-sync.ts'
import { Replicas, replicaLimits } from '../../src/warehouse/replicas.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'

const hosts = ['a.example:8443', 'b.example:8443', 'c.example:8443']

interface World {
  readonly replicas: Replicas
  readonly clock: { nowMs: number }
  /** Replicas that caught up, and moves, in order. */
  readonly events: string[]
  catchUp: (replica: number) => Promise<void>
}

function aWorld(nodeId = 'node'): World {
  const clock = { nowMs: 0 }
  const events: string[] = []
  const world: World = {
    clock,
    events,
    catchUp: () => Promise.resolve(),
    replicas: new Replicas({
      hosts,
      nodeId,
      monotonicMs: () => clock.nowMs,
      onMove: ({ from, to }) => events.push(`${from} to ${to}`),
      catchUp: async (replica) => {
        events.push(`catch up ${replica}`)
        await world.catchUp(replica)
      },
    }),
  }
  return world
}

function away(clickhouseCode?: number): ServiceError {
  return new ServiceError('WAREHOUSE_UNAVAILABLE', 'away', { details: { clickhouseCode } })
}

function aPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const events = new EventEmitter()
  const promise = once(events, 'end').then(() => undefined)
  return { promise, resolve: () => events.emit('end') }
}

async function where({ replicas }: World): Promise<number> {
  return await replicas.use((replica) => Promise.resolve(replica))
}

async function fail({ replicas }: World, error: unknown): Promise<void> {
  await assert.rejects(
    replicas.use(() => Promise.reject(error instanceof Error ? error : new Error(String(error))))
  )
}

test('a node stays on one replica, and nodes spread over all of them', async () => {
  const counts = [0, 0, 0]
  for (let node = 0; node < 60; node += 1) {
    const first = await where(aWorld(`node ${node}`))
    assert.equal(await where(aWorld(`node ${node}`)), first)
    counts[first] = (counts[first] ?? 0) + 1
  }

  assert.ok(
    counts.every((count) => count >= 10),
    counts.join()
  )
})

test('nothing is fetched before the first failure', async () => {
  const world = aWorld()

  await where(world)

  assert.deepEqual(world.events, [])
})

for (const code of [undefined, 225, 242, 254, 279, 999]) {
  test(`a failure with the code ${code} moves the process to a replica that catches up first`, async () => {
    const world = aWorld()
    const first = await where(world)

    await fail(world, away(code))
    const second = await where(world)

    assert.notEqual(second, first)
    assert.deepEqual(world.events, [`${hosts[first]} to ${hosts[second]}`, `catch up ${second}`])
    await where(world)
    assert.equal(world.events.length, 2, 'it catches up once')
  })
}

for (const error of [
  away(159),
  away(202),
  away(241),
  away(285),
  away(319),
  away(516),
  new ServiceError('WAREHOUSE_REFUSED', 'wrong', { details: { clickhouseCode: 62 } }),
  new Error('a fault of ours'),
]) {
  const { code, details } =
    error instanceof ServiceError ? error : { code: error.message, details: { clickhouseCode: '' } }
  test(`a failure that another replica would have as well moves nobody: ${code} ${String(details['clickhouseCode'])}`, async () => {
    const world = aWorld()
    const first = await where(world)

    await fail(world, error)

    assert.equal(await where(world), first)
    assert.deepEqual(world.events, [])
  })
}

test('statements that run at once move the process once, and all that follow wait until it has caught up', async () => {
  const world = aWorld()
  const first = await where(world)
  await Promise.all([fail(world, away()), fail(world, away()), fail(world, away())])
  const catching = aPromise()
  world.catchUp = () => catching.promise

  const answers = [where(world), where(world)]
  const early = await Promise.race([
    ...answers,
    new Promise((resolve) => setImmediate(resolve, 'none')),
  ])
  catching.resolve()

  assert.equal(early, 'none')
  const [one, other] = await Promise.all(answers)
  assert.ok(one === other && one !== first)
  assert.equal(world.events.length, 2)
})

test('what ends on a former replica after the move makes the new one catch up again', async () => {
  const world = aWorld()
  const answer = aPromise()
  const writing = world.replicas.use(() => answer.promise)
  await Promise.resolve()
  await fail(world, away())
  const second = await where(world)

  answer.resolve()
  await writing
  await where(world)

  assert.deepEqual(world.events.slice(1), [`catch up ${second}`, `catch up ${second}`])
})

test('what ends on a former replica while the new one catches up makes it catch up again', async () => {
  const world = aWorld()
  const answer = aPromise()
  const writing = world.replicas.use(() => answer.promise)
  await Promise.resolve()
  await fail(world, away())
  world.catchUp = async () => {
    world.catchUp = () => Promise.resolve()
    answer.resolve()
    await writing
  }

  const second = await where(world)

  assert.deepEqual(world.events.slice(1), [`catch up ${second}`, `catch up ${second}`])
})

test('a replica that cannot catch up is left for the third, and the statement is its caller’s to repeat', async () => {
  const world = aWorld()
  const first = await where(world)
  await fail(world, away())
  world.catchUp = () => Promise.reject(away(159))
  await assert.rejects(where(world), { code: 'WAREHOUSE_UNAVAILABLE' })
  world.catchUp = () => Promise.resolve()

  const third = await where(world)

  assert.equal(new Set([first, third]).size, 2)
  assert.equal(world.events.at(-1), `catch up ${third}`)
})

test('where all replicas failed, the one that failed first is tried first, and a replica that fails again stays away for longer', async () => {
  const world = aWorld()
  const order: number[] = []
  for (let count = 0; count < 3; count += 1) {
    order.push(await where(world))
    await fail(world, away())
    world.clock.nowMs += 1
  }

  assert.equal(new Set(order).size, 3)
  assert.equal(await where(world), order[0])

  world.clock.nowMs += replicaLimits.awayMsMin
  await fail(world, away())
  assert.equal(await where(world), order[1])
  world.clock.nowMs += replicaLimits.awayMsMin
  await fail(world, away())
  assert.equal(await where(world), order[2], 'the first stays away twice as long')
})

interface Asked {
  readonly statements: string[]
  readonly replica: Pick<Warehouse, 'command' | 'rows'>
}

function aReplica(held: { tables: readonly string[]; place: string }): Asked {
  const statements: string[] = []
  return {
    statements,
    replica: {
      command: async (sql) => {
        await Promise.resolve(statements.push(sql))
      },
      // The shape is that of the only question.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      rows: async <Row>() => await Promise.resolve([{ database: 'sh`op', ...held }] as Row[]),
    },
  }
}

test('catching up fetches definitions first, then the rows of every table', async () => {
  const { replica, statements } = aReplica({ tables: ['delivery', 'purchase'], place: '/1' })

  await new CatchUp().run(replica)

  assert.deepEqual(statements, [
    'SYSTEM SYNC DATABASE REPLICA `sh``op`',
    'SYSTEM SYNC REPLICA delivery LIGHTWEIGHT',
    'SYSTEM SYNC REPLICA purchase LIGHTWEIGHT',
  ])
})

test('an address that belongs to another cluster than the first one is never used', async () => {
  const catchUp = new CatchUp()
  await catchUp.run(aReplica({ tables: [], place: '' }).replica)
  await catchUp.run(aReplica({ tables: ['delivery'], place: '/1' }).replica)
  await catchUp.run(aReplica({ tables: ['delivery'], place: '/1' }).replica)

  for (const place of ['/2', '']) {
    await assert.rejects(catchUp.run(aReplica({ tables: [], place }).replica), {
      code: 'WAREHOUSE_UNAVAILABLE',
      message: /another database/,
    })
  }
})

test('a barrier that fails is never taken for a statement that is too heavy', async () => {
  const failing: Asked['replica'] = {
    rows: () => assert.fail('nothing is read'),
    command: () =>
      Promise.reject(
        new ServiceError('WAREHOUSE_REFUSED', 'x', {
          details: { clickhouseCode: 159, limit: 'time' },
        })
      ),
  }

  await assert.rejects(syncTables(failing, ['delivery']), (error) => {
    assert.ok(error instanceof ServiceError && error.cause instanceof ServiceError)
    assert.equal(error.code, 'WAREHOUSE_UNAVAILABLE')
    assert.deepEqual(error.details, {})
    return true
  })
})
