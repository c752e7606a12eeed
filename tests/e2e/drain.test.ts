// Nodes that go for good, and what they took.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { startNodes } from '../helpers/nodes.ts'
import { eventually, signalProcess, statusOf } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import { shelftrace, type Ended } from '../helpers/shelftrace.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

/** `shelftrace drain` on the machine of the node. */
async function drain({ dataDir }: Service): Promise<Ended> {
  return await shelftrace(['drain'], { SHELFTRACE_DATA_DIR: dataDir })
}

async function shop(shoppers: Shoppers, count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await shoppers.shopOnce()
}

async function eventuallyCounted(engine: Service, shoppers: Shoppers): Promise<void> {
  await eventually('the figures are those that were acknowledged', async () => {
    assert.deepEqual(await readFigures(engine), shoppers.acknowledged)
    return true
  })
}

async function namesOfNodes(engine: Service): Promise<readonly unknown[]> {
  const { nodes } = (await (await engine.admin('GET', '/admin/v1/status')).json()) as {
    nodes: readonly { roles: readonly string[]; state: string }[]
  }
  return nodes.map(({ roles, state }) => `${roles.join()} ${state}`)
}

async function prepare(t: TestContext, env: Readonly<Record<string, string>>) {
  const nodes = await startNodes(t, { env })
  const shoppers = await Shoppers.prepare(nodes.engine, 1_000, nodes.tracker.trackingUrl)
  return { ...nodes, shoppers }
}

test('a node that is drained takes events during its notice, ships every one although its engine process dies, and is waited for by nobody', async (t) => {
  const { engine, tracker, warehouse, shoppers } = await prepare(t, {
    SHELFTRACE_DRAIN_NOTICE_MS: '8000',
  })
  await shop(shoppers, 10)
  await warehouse.behave({ kind: 'answer', status: 503 })
  await shop(shoppers, 10)

  const drained = drain(tracker)
  await eventually('the node is not ready', async () => {
    return (await statusOf(`${tracker.trackingUrl}/readyz`)) === 503
  })
  await shop(shoppers, 3)
  await eventually('the tracking port is closed', async () => {
    return await statusOf(`${tracker.trackingUrl}/healthz`).then(
      () => false,
      () => true
    )
  })
  await shoppers.stop()
  for (const pid of tracker.children('engine')) signalProcess(pid, 'SIGKILL')
  await warehouse.behave({ kind: 'serve' })

  const { code, stdout, stderr } = await drained
  assert.equal(stderr, '')
  assert.equal(code, 0)
  assert.match(stdout, /every event it took is in the warehouse/u)
  assert.equal(tracker.isRunning, false)
  assert.equal(shoppers.acknowledged.purchases, 23)
  await eventuallyCounted(engine, shoppers)
  await eventually('the engine knows that the node has left', async () => {
    assert.deepEqual(await namesOfNodes(engine), ['engine living'])
    return true
  })
})

test('a node that cannot ship within its limit ends with 1 and says how many events are left, which are shipped at its next start', async (t) => {
  const { engine, tracker, warehouse, shoppers } = await prepare(t, {
    SHELFTRACE_DRAIN_NOTICE_MS: '0',
    SHELFTRACE_DRAIN_MS: '2000',
  })
  await shop(shoppers, 5)
  await eventuallyCounted(engine, shoppers)
  await warehouse.behave({ kind: 'answer', status: 503 })
  await shop(shoppers, 5)
  await shoppers.stop()

  assert.equal(await tracker.terminate(), 1)
  const left = /: (\d+) events \(\d+ bytes\) were not shipped and wait in the spool of /u.exec(
    tracker.stderr
  )
  assert.ok(Number(left?.[1]) >= 5, tracker.stderr)

  await warehouse.behave({ kind: 'serve' })
  await tracker.start()
  await eventuallyCounted(engine, shoppers)
})
