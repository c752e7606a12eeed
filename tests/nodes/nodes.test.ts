import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { ensureNodeId } from '../../src/nodes/node-id.ts'
import { nodeLimits, Nodes } from '../../src/nodes/nodes.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const hourMs = 3_600_000

interface Spooled {
  bytes: number
  oldestAtMs: number | null
}

/** Nodes around one warehouse; time on each is set by hand. */
function aNode(
  warehouse: Pick<Warehouse, 'rows' | 'command' | 'barrier'>,
  { id = 'a', roles = ['engine'], nowMs = 1_000_000, isAlone = false } = {}
) {
  const spool: Spooled = { bytes: 0, oldestAtMs: null }
  const time = { nowMs, monotonicMs: 0 }
  const nodes = new Nodes({
    warehouse,
    node: { id, name: `machine ${id}`, roles },
    spool: { depth: () => spool },
    clock: () => time.nowMs,
    monotonicMs: () => time.monotonicMs,
    isAlone,
  })
  return { nodes, spool, time }
}

/** Makes what a node said last look as if it had been said so long ago. */
async function age(warehouse: Warehouse, id: string, ms: number): Promise<void> {
  const columns = 'node_id, name, roles, shipped_through, waiting_bytes, has_left'
  const [row] = await warehouse.rows<Record<string, string | string[]>>(
    `SELECT name, roles, toString(shipped_through) AS shipped_through,
       toString(waiting_bytes) AS waiting_bytes, toString(has_left) AS has_left
     FROM node_seen FINAL WHERE node_id = {id:String}`,
    { id }
  )
  // Beforehand, because the later one of two rows of a node stays.
  await warehouse.command('DELETE FROM node_seen WHERE node_id = {id:String}', { id })
  await warehouse.command(
    `INSERT INTO node_seen (${columns}, seen_at)
     SELECT {id:String}, {name:String}, {roles:Array(String)}, toDateTime64({shipped_through:String}, 3, 'UTC'),
       toUInt64({waiting_bytes:String}), toUInt8({has_left:String}), now64(6) - toIntervalMillisecond({ms:UInt64})`,
    { id, ms, ...row }
  )
}

async function twoNodes(t: TestContext, roles = ['tracker']) {
  const warehouse = await openTestWarehouse(t)
  const engine = aNode(warehouse)
  const other = aNode(warehouse, { id: 'b', roles, nowMs: 900_000 })
  return { warehouse, engine, other }
}

const refuse = () => Promise.reject(new Error('away'))

const stateOfB = (nodes: Nodes) => nodes.list()?.find(({ id }) => id === 'b')?.state

test('sealing waits for the oldest event that waits on any other node, by the clock that stamped it', async (t) => {
  const { engine, other } = await twoNodes(t)
  assert.equal(engine.nodes.othersShippedThroughMs(), 0, 'before the first look nothing is known')
  await engine.nodes.beat()
  assert.equal(engine.nodes.othersShippedThroughMs(), Infinity, 'no other node')

  await other.nodes.beat()
  await engine.nodes.beat()
  assert.equal(engine.nodes.othersShippedThroughMs(), 900_000, 'an empty spool')

  other.spool.bytes = 400
  other.spool.oldestAtMs = 700_000
  await other.nodes.beat()
  await engine.nodes.beat()
  assert.equal(engine.nodes.othersShippedThroughMs(), 700_000)
})

test('a node that fell silent is waited for during six hours, and then missed', async (t) => {
  const { warehouse, engine, other } = await twoNodes(t)
  await other.nodes.beat()

  await age(warehouse, 'b', nodeLimits.livingMs - 5_000)
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), 'living')

  for (const ms of [nodeLimits.livingMs, 6 * hourMs - 60_000]) {
    await age(warehouse, 'b', ms)
    await engine.nodes.beat()
    assert.equal(stateOfB(engine.nodes), 'silent')
    assert.equal(engine.nodes.othersShippedThroughMs(), 900_000)
  }

  await age(warehouse, 'b', 6 * hourMs)
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), 'missing')
  assert.equal(engine.nodes.othersShippedThroughMs(), Infinity)

  await age(warehouse, 'b', 7 * 24 * hourMs + 1_000)
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), undefined)
})

test('a node that left with an empty spool is waited for by nobody, and one that is started again is', async (t) => {
  const { warehouse, engine, other } = await twoNodes(t)
  await other.nodes.beat()
  await other.nodes.leave()
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), undefined)
  assert.equal(engine.nodes.othersShippedThroughMs(), Infinity)

  await other.nodes.beat()
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), undefined, 'it beats on until it has ended')

  await aNode(warehouse, { id: 'b', roles: ['tracker'] }).nodes.beat()
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), 'living')
})

test('a node that drains has left once its spool is empty and the warehouse could be told', async (t) => {
  const { warehouse, engine, other } = await twoNodes(t)
  let isAway = true
  const node = aNode(
    {
      ...warehouse,
      command: (sql, params) => (isAway ? refuse() : warehouse.command(sql, params)),
    },
    { id: 'b', roles: ['tracker'] }
  )
  await other.nodes.beat()
  node.spool.bytes = 400
  node.spool.oldestAtMs = 700_000
  assert.equal(node.nodes.isLeaving, false)
  node.nodes.announceLeaving()
  assert.equal(node.nodes.isLeaving, true)
  const states: (string | undefined)[] = []
  const left = node.nodes.leaveOnceEmpty()
  const look = async () => {
    await engine.nodes.beat()
    states.push(stateOfB(engine.nodes))
  }

  await look()
  node.spool.oldestAtMs = null
  await look()
  isAway = false
  await left
  await look()

  assert.deepEqual(states, ['living', 'living', undefined])
})

test('a node that leaves while events wait in its spool has not left', async (t) => {
  const { warehouse, engine, other } = await twoNodes(t)
  other.spool.bytes = 400
  other.spool.oldestAtMs = 700_000
  await other.nodes.leave()
  await age(warehouse, 'b', 40_000)
  await engine.nodes.beat()

  assert.equal(stateOfB(engine.nodes), 'silent')
  assert.equal(engine.nodes.othersShippedThroughMs(), 700_000)
})

test('a node of an engine alone that ends is forgotten, unless its spool holds events', async (t) => {
  const { warehouse, engine, other } = await twoNodes(t, ['engine'])
  await other.nodes.beat()
  await age(warehouse, 'b', 40_000)
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), undefined)

  other.spool.bytes = 400
  other.spool.oldestAtMs = 700_000
  await other.nodes.beat()
  await age(warehouse, 'b', 40_000)
  await engine.nodes.beat()
  assert.equal(stateOfB(engine.nodes), 'silent')
  assert.equal(engine.nodes.othersShippedThroughMs(), 700_000)
})

test('when a node ends, one with trackers is waited for, and one without is not', async (t) => {
  const { warehouse, engine, other } = await twoNodes(t)
  const third = aNode(warehouse, { id: 'c', roles: ['engine'] })
  await other.nodes.beat()
  await third.nodes.beat()
  await other.nodes.close()
  await third.nodes.close()
  await engine.nodes.beat()

  assert.deepEqual(
    engine.nodes.list()?.map(({ id }) => id),
    ['a', 'b']
  )
  assert.equal(engine.nodes.division().nodeCount, 1)
  await aNode({ rows: refuse, command: refuse, barrier: refuse }).nodes.close()
})

test('a node with a warehouse of its own ignores nodes from before a restore, and lists itself alone', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const before = aNode(warehouse, { id: 'b', roles: ['tracker', 'engine'], nowMs: 900_000 })
  before.spool.oldestAtMs = 800_000
  before.spool.bytes = 4_000
  await before.nodes.beat()
  await age(warehouse, 'b', 60_000)
  const restored = aNode(warehouse, { roles: ['tracker', 'engine'], isAlone: true })

  await restored.nodes.beat()

  assert.deepEqual(
    restored.nodes.list()?.map(({ id, state }) => [id, state]),
    [['a', 'living']]
  )
  assert.equal(restored.nodes.othersShippedThroughMs(), Infinity)
})

test('engines that are alive divide the work, and one that is alone has all of it', async (t) => {
  const { warehouse, engine, other } = await twoNodes(t, ['engine'])
  const tasks = Array.from({ length: 64 }, (_, index) => `bucket ${index}`)
  const owned = ({ nodes }: { nodes: Nodes }) => {
    const division = nodes.division()
    return tasks.filter((task) => division.owns(task))
  }
  await engine.nodes.beat()
  assert.deepEqual(owned(engine), tasks)

  await other.nodes.beat()
  await engine.nodes.beat()
  assert.ok(owned(engine).length > 10 && owned(other).length > 10)
  assert.deepEqual([...owned(engine), ...owned(other)].toSorted(), tasks.toSorted())

  await age(warehouse, 'b', 30_000)
  await engine.nodes.beat()
  assert.deepEqual(owned(engine), tasks)
})

test('trackers get no share of the work of engines', async (t) => {
  const { engine, other } = await twoNodes(t, ['tracker'])
  await other.nodes.beat()
  await engine.nodes.beat()

  assert.equal(engine.nodes.division().nodeCount, 1)
})

test('a node that cannot look does nothing for half a minute, then everything; once it could, everything a minute after', async () => {
  const rows: unknown[] = []
  let isAway = true
  const door = {
    barrier: () => Promise.resolve(),
    command: () => (isAway ? refuse() : Promise.resolve()),
    rows: <Row>() => Promise.resolve(rows as Row[]),
  }
  const { nodes, time } = aNode(door)
  await assert.rejects(nodes.beat())
  assert.equal(nodes.division().owns('anything'), false)

  time.monotonicMs = nodeLimits.firstLookMsMax
  assert.equal(nodes.division().owns('anything'), true)
  assert.equal(nodes.othersShippedThroughMs(), 0)

  isAway = false
  await nodes.beat()
  assert.equal(nodes.othersShippedThroughMs(), Infinity)
  time.monotonicMs += nodeLimits.viewMsMax + 1
  assert.equal(nodes.othersShippedThroughMs(), 0)
  assert.equal(nodes.list(), null)
  assert.equal(nodes.division().owns('anything'), true)
})

test('a node keeps the id of its data folder, and refuses a file that holds none', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-node-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const id = ensureNodeId(folder)

  assert.match(id, /^[0-9a-f]{16}$/u)
  assert.equal(ensureNodeId(folder), id)
  writeFileSync(join(folder, 'node-id'), 'mine\n')
  assert.throws(() => ensureNodeId(folder), /node-id must hold 16 hexadecimal digits/u)
})

test('a folder in the place of the id of a node is named with its path', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shelftrace-node-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  mkdirSync(join(dataDir, 'node-id'))

  assert.throws(() => ensureNodeId(dataDir), {
    code: 'CONFIG_INVALID',
    message: new RegExp(`${dataDir}/node-id cannot be read: it is a folder`, 'u'),
  })
})
