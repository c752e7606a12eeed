import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ensureSecrets } from '../../src/secrets.ts'
import { eventually, prepareService, statusOf } from '../helpers/service.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

function isAlive(pid: number): boolean {
  // A process that ended and waits for its parent still has an entry, but no command line.
  return existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
}

test('a service takes traffic on both ports when it says so, and SIGTERM ends all of it with exit code 0', async (t) => {
  const service = await prepareService(t)

  await service.start()

  for (const path of ['/healthz', '/readyz']) {
    assert.equal(await statusOf(`${service.trackingUrl}${path}`), 200)
    assert.equal(await statusOf(`${service.campaignUrl}${path}`), 200)
  }
  assert.equal(await statusOf(`${service.campaignUrl}/docs`), 200)
  const children = [...service.children('engine'), ...service.children('tracker')]
  assert.ok(children.length >= 2)
  assert.equal(await service.terminate(), 0)
  assert.deepEqual(children.filter(isAlive), [])
})

test('what was acknowledged before SIGTERM is in the figures after the next start', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const shoppers = await Shoppers.prepare(service, 1_000)
  shoppers.start(8)
  await eventually('some purchases', async () => {
    await Promise.resolve()
    return shoppers.acknowledged.purchases > 20
  })

  const ended = service.terminate()
  await ended
  await service.start()
  await shoppers.stop()

  await eventually('the purchases are attributed', async () => {
    return (await readFigures(service)).purchases === shoppers.acknowledged.purchases
  })
  assert.deepEqual(await readFigures(service), shoppers.acknowledged)
})

test('the children of a supervisor that is killed end by themselves, and the next one takes over', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const children = [...service.children('engine'), ...service.children('tracker')]

  await service.kill()
  await service.start()

  assert.deepEqual(children.filter(isAlive), [])
  assert.equal(await statusOf(`${service.trackingUrl}/readyz`), 200)
})

test('trackers answer while the engine is down', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const [engine] = service.children('engine')
  assert.ok(engine !== undefined)

  process.kill(engine, 'SIGKILL')
  const answer = await fetch(`${service.trackingUrl}/conversion`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'shop' },
    body: JSON.stringify({
      user_id: 'u1',
      transaction_id: 't1',
      site_id: 101,
      publisher_id: 10,
      currency: 'EUR',
      products: [{ gtin: '4006381333931', price: 1, quantity: 1 }],
    }),
  })

  assert.equal(answer.status, 200)
  await eventually('the engine is back', async () => {
    return (await statusOf(`${service.campaignUrl}/readyz`)) === 200
  })
})

test('the status and the metrics are answered while the folder of the spool is gone, and say that events are refused', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const headers = { authorization: `Bearer ${service.adminKey}` }
  const failing = async () => {
    const answer = await fetch(`${service.campaignUrl}/admin/v1/status`, { headers })
    assert.equal(answer.status, 200)
    return (await answer.text()).includes('events are refused')
  }
  const spool = join(service.dataDir, 'spool')

  renameSync(spool, `${spool}-away`)

  assert.equal(await failing(), true)
  assert.equal((await fetch(`${service.campaignUrl}/metrics`, { headers })).status, 200)
  renameSync(`${spool}-away`, spool)
  assert.equal(await failing(), false)
})

test('no file of the data folder holds a raw user id', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const userId = 'raw-user-canary-0123456789'
  const body = {
    user_id: userId,
    user_logged_in_id: `${userId}-login`,
    transaction_id: 't1',
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [{ gtin: '4006381333931', price: 1, quantity: 1 }],
  }
  await fetch(`${service.trackingUrl}/conversion`, { method: 'POST', body: JSON.stringify(body) })
  await service.terminate()

  const found = spawnSync('grep', ['-rlaF', userId, service.dataDir], { encoding: 'utf8' })

  assert.equal(found.stdout, '')
  assert.ok(!service.stderr.includes(userId))
})

function serve(env: Record<string, string>) {
  return spawnSync(process.execPath, ['dist/cli.js', 'serve'], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })
}

test('a configuration error ends the start with the variable and what was expected, without a stack', async (t) => {
  const service = await prepareService(t)

  const run = serve({
    SHELFTRACE_DATA_DIR: service.dataDir,
    SHELFTRACE_TRACKING_PORT: 'eighty',
  })

  assert.equal(run.status, 1)
  assert.match(
    run.stderr,
    /SHELFTRACE_TRACKING_PORT must be an integer from 1 to 65535, got "eighty"/
  )
  assert.doesNotMatch(run.stderr, /\n\s+at /)
})

test('a node with another identity secret than the warehouse was begun with does not start and takes no event', async (t) => {
  const service = await prepareService(t)
  await service.start()
  await service.terminate()
  const elsewhere = join(service.dataDir, 'elsewhere')
  const secretsFile = join(elsewhere, 'secrets.json')
  ensureSecrets({ dataDir: elsewhere, secretsFile, adminKey: null })

  const run = serve({
    SHELFTRACE_DATA_DIR: service.dataDir,
    SHELFTRACE_SECRETS_FILE: secretsFile,
    SHELFTRACE_TRACKING_PORT: new URL(service.trackingUrl).port,
    SHELFTRACE_CAMPAIGN_PORT: new URL(service.campaignUrl).port,
  })

  assert.equal(run.status, 1)
  assert.match(run.stderr, /SHELFTRACE_SECRETS_FILE holds another identity secret/)
  assert.doesNotMatch(run.stderr, /"child":"tracker/)
})
