// Warehouses on which figures would be wrong: who stops, and who goes on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import { startNodes } from '../helpers/nodes.ts'
import { eventually, prepareService, statusOf } from '../helpers/service.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

const asTwoShards = {
  kind: 'pose',
  replaced: {
    'system.databases': `(SELECT name, 'Replicated' AS engine FROM system.databases)`,
    'system.clusters': '(SELECT currentDatabase() AS cluster, number AS shard_num FROM numbers(2))',
  },
} as const

test('a new node does not start on a database of two shards, and says why in a sentence', async (t) => {
  const warehouse = await startClickHouseStandIn()
  t.after(() => warehouse.close())
  await warehouse.behave(asTwoShards)

  for (const roles of ['engine', 'tracker', 'tracker,engine']) {
    const node = await prepareService(t, {
      env: { SHELFTRACE_WAREHOUSE_URL: warehouse.url, SHELFTRACE_ROLES: roles },
    })
    await assert.rejects(node.start(), /it ended with 1: .*SHELFTRACE_WAREHOUSE_URL.*2 shards/su)
    assert.doesNotMatch(node.stderr, /^\s+at /mu)
  }
})

test('a node of trackers that took events before goes on taking them, and ships them once the database is fit', async (t) => {
  const { warehouse, engine, tracker } = await startNodes(t, { trackers: 1 })
  const shoppers = await Shoppers.prepare(engine, 100, tracker.trackingUrl)
  await tracker.terminate()

  await warehouse.behave(asTwoShards)
  const started = tracker.start()
  await eventually('trackers take events', async () => {
    return (await statusOf(`${tracker.trackingUrl}/healthz`)) === 200
  })
  for (let count = 0; count < 5; count += 1) await shoppers.shopOnce()
  await eventually('the log says what is wrong', async () => {
    return await Promise.resolve(/2 shards.*nothing is shipped/u.test(tracker.stderr))
  })
  await warehouse.behave({ kind: 'serve' })
  await started

  assert.equal(shoppers.acknowledged.purchases, 5)
  await eventually('the figures are those that were acknowledged', async () => {
    assert.deepEqual(await readFigures(engine), shoppers.acknowledged)
    return true
  })
})
