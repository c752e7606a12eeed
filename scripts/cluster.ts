// `npm run test:cluster`: shoppers on a live cluster (deploy/compose.cluster.yaml), whose replicas are killed one after
// the other. Ends with 0 if every figure is what was answered with 200. Needs Docker with Compose.
//   --keep   leaves the cluster running
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readFigures, Shoppers } from '../tests/helpers/shoppers.ts'

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } })
const file = 'deploy/compose.cluster.yaml'
const replicas = ['clickhouse-1', 'clickhouse-2', 'clickhouse-3'] as const
const loadMs = 20_000
const patienceMs = 300_000

function compose(...args: readonly string[]): string {
  const run = spawnSync('docker', ['compose', '--file', file, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (run.error !== undefined || run.status !== 0) {
    throw new Error(`docker compose ${args.join(' ')} failed`, { cause: run.error })
  }
  return run.stdout
}

if (spawnSync('docker', ['compose', 'version']).status !== 0) {
  console.error('There is no Docker with Compose here, so there is no cluster to test.')
  process.exit(1)
}

try {
  compose('up', '--detach', '--wait', '--build')
  const adminKey = compose('exec', '-T', 'shelftrace', 'cat', '/data/admin-key').trim()
  const service = {
    trackingUrl: 'http://127.0.0.1:8080',
    admin: async (method: string, path: string, body?: unknown) =>
      await fetch(`http://127.0.0.1:8081${path}`, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  }
  const shoppers = await Shoppers.prepare(service, 100_000)
  shoppers.start(8)
  for (const replica of replicas) {
    await sleep(loadMs)
    console.log(`${shoppers.acknowledged.purchases} purchases; ${replica} is killed`)
    compose('kill', replica)
    await sleep(loadMs)
    compose('up', '--detach', '--wait', replica)
  }
  await shoppers.stop()

  const endMs = Date.now() + patienceMs
  for (;;) {
    const figures = await readFigures(service).catch(() => null)
    if (figures?.purchases === shoppers.acknowledged.purchases || Date.now() > endMs) {
      assert.deepEqual(figures, shoppers.acknowledged)
      break
    }
    await sleep(1_000)
  }
  console.log(`Every figure is right: ${JSON.stringify(shoppers.acknowledged)}`)
} finally {
  if (!values.keep) compose('down', '--volumes')
}
