// Nodes with a part each, around one warehouse server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startNodes } from '../helpers/nodes.ts'
import { eventually, statusOf } from '../helpers/service.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

test('what a node of trackers answers with 200 counts once in the reports of a node of engines, also when that was killed meanwhile', async (t) => {
  const { engine, tracker } = await startNodes(t)
  const shoppers = await Shoppers.prepare(engine, 1_000, tracker.trackingUrl)
  const shop = async () => {
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 4 }, () => shoppers.shopOnce()))
    }
  }
  await shop()

  await engine.killAll()
  await shop()
  await engine.start()
  await shop()
  await shoppers.stop()

  assert.equal(shoppers.acknowledged.purchases, 120)
  await eventually('the figures are those that were acknowledged', async () => {
    assert.deepEqual(await readFigures(engine), shoppers.acknowledged)
    return true
  })
})

test('a node of trackers tells how it does on its campaign port, to who may know, and answers nothing else there', async (t) => {
  const { engine, tracker } = await startNodes(t)
  const shoppers = await Shoppers.prepare(engine, 1_000, tracker.trackingUrl)
  for (let count = 0; count < 5; count += 1) await shoppers.shopOnce()
  const made = await engine.admin('POST', '/admin/v1/keys', {
    name: 'Monitoring',
    scopes: ['metrics:read'],
  })
  assert.equal(made.status, 201)
  const { key } = (await made.json()) as { key: string }
  const readMetrics = async () => {
    const answer = await fetch(`${tracker.campaignUrl}/metrics`, {
      headers: { authorization: `Bearer ${key}` },
    })
    assert.equal(answer.status, 200)
    return await answer.text()
  }

  await eventually(
    'the metrics count both trackers, five purchases and an empty spool',
    async () => {
      const lines = (await readMetrics()).split('\n')
      const sums = (name: string, part: string) =>
        lines
          .filter((line) => line.startsWith(name) && line.includes(part))
          .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
      assert.equal(sums('shelftrace_trackers ', ''), 2)
      assert.equal(sums('shelftrace_tracking_answers_total', 'route="/conversion"'), 5)
      assert.equal(sums('shelftrace_spool_bytes ', ''), 0)
      return true
    }
  )

  for (const path of ['/healthz', '/readyz']) {
    assert.equal(await statusOf(`${tracker.campaignUrl}${path}`), 200)
    assert.equal(await statusOf(`${tracker.trackingUrl}${path}`), 200)
  }
  assert.equal(await statusOf(`${tracker.campaignUrl}/metrics`), 401)
  assert.equal((await tracker.admin('GET', '/admin/v1/keys')).status, 404)
  for (const path of ['/docs', '/openapi.json']) {
    assert.equal(await statusOf(`${engine.campaignUrl}${path}`), 200)
    assert.equal(await statusOf(`${tracker.campaignUrl}${path}`), 404)
  }
})
