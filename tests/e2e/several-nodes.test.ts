// Several nodes of each role around one warehouse server, which come and go under load.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import type { StandIn } from '../helpers/clickhouse-stand-in.ts'
import { eventually, prepareService, signalProcess } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

/** `TEST_NODES_SECONDS=300` is the long form, which also compares the statements of one engine with those of two. */
const seconds = Number(process.env['TEST_NODES_SECONDS'] ?? 12)
const isLong = seconds >= 120

async function startAll(t: TestContext) {
  const warehouse = await startClickHouseStandIn()
  const nodes: Service[] = []
  // Killed, and before the server goes: without it each would try to drain for a minute.
  t.after(async () => {
    for (const node of nodes) await node.kill()
    await warehouse.close()
  })
  const shared = {
    SHELFTRACE_WAREHOUSE_URL: warehouse.url,
    SHELFTRACE_SETTLE_MS: '500',
    SHELFTRACE_TRACKERS: '1',
    SHELFTRACE_DRAIN_NOTICE_MS: '1000',
    SHELFTRACE_DRAIN_MS: '60000',
  }
  const first = await prepareService(t, { env: { ...shared, SHELFTRACE_ROLES: 'engine' } })
  await first.start()
  const prepare = async (role: string) =>
    await prepareService(t, {
      env: {
        ...shared,
        SHELFTRACE_ROLES: role,
        SHELFTRACE_SECRETS_FILE: join(first.dataDir, 'secrets.json'),
      },
    })
  const second = await prepare('engine')
  const trackers = [await prepare('tracker'), await prepare('tracker')] as const
  nodes.push(first, second, ...trackers)
  await Promise.all([second, ...trackers].map((node) => node.start()))
  return { warehouse, engines: [first, second] as const, trackers }
}

interface Seen {
  readonly name: string
  readonly roles: readonly string[]
  readonly state: string
  readonly isThis: boolean
}

async function nodesSeenBy(engine: Service): Promise<readonly Seen[]> {
  const answer = await engine.admin('GET', '/admin/v1/status')
  return ((await answer.json()) as { nodes?: readonly Seen[] }).nodes ?? []
}

/** One of the six parts of the run. */
async function part(): Promise<void> {
  await sleep((seconds * 1_000) / 6)
}

/** One row, as the server answers it. */
async function ask(warehouse: StandIn, sql: string): Promise<string> {
  const { username, password, origin, pathname } = new URL(warehouse.url)
  const credentials = `${username}:${decodeURIComponent(password)}`
  const answer = await fetch(`${origin}/?database=${pathname.slice(1)}`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: `${sql} FORMAT TabSeparated`,
  })
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return text.trim()
}

/** From the shipping that made a purchase pending to the reading that answered it, of the slowest purchase. */
const slowestSql = `
SELECT max(dateDiff('millisecond', p.at, a.at)) FROM
  (SELECT purchase_key, max(shipped_at) AS at FROM pending_purchase GROUP BY purchase_key) AS p
  INNER JOIN (SELECT purchase_key, max(read_at) AS at FROM attribution GROUP BY purchase_key) AS a
  ON a.purchase_key = p.purchase_key`

/** The statements by which engines attribute and seal, each with the looks for it. */
const isWork = (beginning: string) =>
  /pending_purchase|touched_span|sealed_day|product_day|INSERT INTO attribution|known AS/u.test(
    beginning
  )

async function countWork(warehouse: StandIn): Promise<number> {
  const counts = Object.entries(await warehouse.counts())
  return counts.reduce((sum, [text, count]) => sum + (isWork(text) ? count : 0), 0)
}

test('nodes of trackers and of engines are killed, drained and started under load, and every event that was answered with 200 counts once', async (t) => {
  const { warehouse, engines, trackers } = await startAll(t)
  const [first, second] = engines
  const urls = trackers.map(({ trackingUrl }) => trackingUrl)
  const shoppers = await Shoppers.prepare(first, isLong ? 30_000 : 10_000, urls)
  await eventually('the engines know of each other', async () => {
    const seen = await nodesSeenBy(first)
    return (
      seen.filter(({ state, roles }) => state === 'living' && roles.includes('engine')).length === 2
    )
  })

  shoppers.start(4)
  await part()
  for (const pid of second.children('engine')) signalProcess(pid, 'SIGKILL')
  await part()
  await trackers[1].killAll()
  await part()
  await trackers[1].start()
  assert.equal(await trackers[0].terminate(), 0, trackers[0].stderr)
  await part()
  await second.killAll()
  await part()
  await second.start()
  await trackers[0].start()
  await part()
  await shoppers.stop()

  for (const engine of engines) {
    await eventually('the figures are those that were acknowledged', async () => {
      assert.deepEqual(await readFigures(engine), shoppers.acknowledged)
      return true
    })
  }
  const slowestMs = Number(await ask(warehouse, slowestSql))
  assert.ok(slowestMs <= 90_000, `a purchase waited ${slowestMs} ms`)
  t.diagnostic(
    `${JSON.stringify(shoppers.acknowledged)}; the slowest purchase took ${slowestMs} ms`
  )
})

if (isLong) {
  // A model of it, in which time is set by hand, is in tests/attribution/turns.test.ts.
  test('two engines run at most 1.1 times the statements of one, per credited line', async (t) => {
    const { warehouse, engines, trackers } = await startAll(t)
    const [first, second] = engines
    const shoppers = await Shoppers.prepare(
      first,
      3_000,
      trackers.map(({ trackingUrl }) => trackingUrl)
    )
    const livingEngines = async () =>
      (await nodesSeenBy(first)).filter(
        ({ state, roles }) => state === 'living' && roles.includes('engine')
      ).length
    /** At a steady pace, so that all measurements see the same load. */
    const measure = async (): Promise<number> => {
      const before = { work: await countWork(warehouse), lines: shoppers.acknowledged.purchases }
      const endMs = performance.now() + 40_000
      while (performance.now() < endMs) await Promise.all([shoppers.shopOnce(), sleep(200)])
      const lines = shoppers.acknowledged.purchases - before.lines
      return ((await countWork(warehouse)) - before.work) / lines
    }
    const ratios: number[] = []
    for (let round = 0; round < 3; round += 1) {
      await eventually('both engines are there', async () => (await livingEngines()) === 2)
      // Each looks at the nodes every ten seconds.
      await sleep(11_000)
      const two = await measure()
      assert.equal(await second.terminate(), 0)
      await eventually('one engine is there', async () => (await livingEngines()) === 1)
      const one = await measure()
      await second.start()
      t.diagnostic(
        `${one.toFixed(2)} statements a line with one engine, ${two.toFixed(2)} with two`
      )
      ratios.push(two / one)
    }
    await shoppers.stop()
    const median = ratios.toSorted((a, b) => a - b)[1] ?? Infinity
    assert.ok(median <= 1.1, ratios.map((ratio) => ratio.toFixed(3)).join(' '))
  })
}
