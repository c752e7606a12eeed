// What ends a process of a node, and what does not.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/free-port.ts'
import { eventually, prepareService, signalProcess, statusOf } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'

const preloadUrl = new URL('../helpers/shifted-clock.mjs', import.meta.url).href

/** `TEST_ENGINE_KILLS=20` is the long form: a port is then held for the 30 seconds that others may need. */
const killCount = Number(process.env['TEST_ENGINE_KILLS'] ?? 2)
const heldMs = killCount > 2 ? 30_000 : 8_000

function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'shelftrace-processes-'))
}

function makeRemovedFolder(t: TestContext): string {
  const folder = makeFolder()
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** As the process was started with. */
function environmentOf(pid: number | undefined): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8')
}

async function eventuallyReady(service: Service): Promise<void> {
  await eventually('the campaign port is ready', async () => {
    return (await statusOf(`${service.campaignUrl}/readyz`)) === 200
  })
}

/** Takes the port as soon as it is free, and gives it back after the time. */
async function holdPort(port: number, ms: number): Promise<void> {
  const holder = createServer((socket) => socket.destroy())
  await eventually('the port is taken', async () => {
    await new Promise<void>((resolve, reject) => {
      holder.once('error', reject)
      holder.listen(port, '127.0.0.1', resolve)
    })
    return true
  })
  await sleep(ms)
  await new Promise<void>((resolve) => holder.close(() => resolve()))
}

test(`an engine that is killed and finds its port taken comes back once it is free, ${killCount} times of ${killCount}`, async (t) => {
  const service = await prepareService(t, { env: { SHELFTRACE_TRACKERS: '1' } })
  await service.start()
  const port = Number(new URL(service.campaignUrl).port)

  for (let count = 1; count <= killCount; count += 1) {
    for (const engine of service.children('engine')) signalProcess(engine, 'SIGKILL')
    await holdPort(port, heldMs)

    await eventuallyReady(service)
    assert.equal(await statusOf(`${service.trackingUrl}/readyz`), 200)
    t.diagnostic(`${count} of ${killCount}: the engine is back`)
  }
  assert.equal(await service.terminate(), 0)
})

test('a tracker that is killed while the warehouse is away since the start is started again, however long it has been away', async (t) => {
  const folder = makeRemovedFolder(t)
  const dataDir = join(folder, 'data')
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const known = await prepareService(t, { dataDir })
  await known.start()
  await known.terminate()
  const service = await prepareService(t, {
    dataDir,
    env: {
      SHELFTRACE_TRACKERS: '1',
      SHELFTRACE_WAREHOUSE_URL: 'http://user:warehouse-password@127.0.0.1:1/',
      NODE_OPTIONS: `--import=${preloadUrl}`,
      TEST_CLOCK_FILE: clockFile,
    },
  })
  const started = service.start().catch((error: unknown) => error)
  const isAlive = async () => (await statusOf(`${service.trackingUrl}/healthz`)) === 200
  await eventually('the tracker takes events', isAlive)

  writeFileSync(clockFile, '3600000')
  await sleep(100)
  const [killed] = service.children('tracker')
  assert.ok(killed !== undefined)
  assert.doesNotMatch(environmentOf(killed), /warehouse-password/u)
  signalProcess(killed, 'SIGKILL')

  await eventually('another tracker is there', async () => {
    return service.children('tracker').some((pid) => pid !== killed) && (await isAlive())
  })
  assert.ok(service.isRunning)
  assert.equal(await service.terminate(), 0, 'a node that took events ends in good order')
  await started
})

test('a terminal that closes ends no process of a node', async (t) => {
  const service = await prepareService(t, { env: { SHELFTRACE_TRACKERS: '1' } })
  await service.start()
  const pids = () => [service.pid, ...service.children('engine'), ...service.children('tracker')]
  const before = pids()

  for (const pid of before) process.kill(pid, 'SIGHUP')
  await sleep(500)

  assert.deepEqual(pids(), before)
  await eventuallyReady(service)
  assert.equal(await statusOf(`${service.trackingUrl}/readyz`), 200)
})

/** Whether somebody listens on this port of the machine. */
async function isPortOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

// Recipes for logrotate send it. Node answers it with its debugger, through which every user of the machine can run
// code as the service.
test('SIGUSR1 opens the debugger in no process of a node, and ends none', async (t) => {
  const debuggerPort = 9229
  const service = await prepareService(t, { env: { SHELFTRACE_TRACKERS: '1' } })
  await service.start()
  const pids = () => [service.pid, ...service.children('engine'), ...service.children('tracker')]
  const before = pids()
  assert.equal(before.length, 3)
  const wasOpen = await isPortOpen(debuggerPort)

  for (const pid of before) {
    process.kill(pid, 'SIGUSR1')
    await sleep(500)
  }

  assert.equal(await isPortOpen(debuggerPort), wasOpen)
  // Node names the inspector if another process has the port.
  assert.doesNotMatch(service.stderr, /debugger|inspector/iu)
  assert.deepEqual(pids(), before)
  await eventuallyReady(service)
  assert.equal(await statusOf(`${service.trackingUrl}/readyz`), 200)
})

test('nobody reading the output any more ends no process of a node', async (t) => {
  const folder = makeFolder()
  const env = {
    PATH: process.env['PATH'],
    SHELFTRACE_DATA_DIR: join(folder, 'data'),
    SHELFTRACE_TRACKING_PORT: String(await freePort()),
    SHELFTRACE_CAMPAIGN_PORT: String(await freePort()),
    SHELFTRACE_TRACKERS: '1',
    SHELFTRACE_LOG_LEVEL: 'debug',
  }
  const child = spawn(process.execPath, ['dist/cli.js', 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(async () => {
    if (child.kill('SIGTERM')) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  child.stdout.destroy()
  child.stderr.destroy()

  // At this level each of these requests is a line of the log.
  for (const port of [env.SHELFTRACE_TRACKING_PORT, env.SHELFTRACE_CAMPAIGN_PORT]) {
    for (let count = 0; count < 3; count += 1) {
      await eventually(`port ${port} is ready`, async () => {
        return (await statusOf(`http://127.0.0.1:${port}/readyz`)) === 200
      })
    }
  }

  assert.equal(child.exitCode, null)
})

test('trackers do not get the admin key, and the engine does', async (t) => {
  const adminKey = `st_${'a'.repeat(43)}`
  const service = await prepareService(t, {
    env: { SHELFTRACE_TRACKERS: '1', SHELFTRACE_ADMIN_KEY: adminKey, SHELFTRACE_KEY: adminKey },
  })
  await service.start()

  const [tracker] = service.children('tracker')
  const [engine] = service.children('engine')

  assert.ok(!environmentOf(tracker).includes(adminKey))
  assert.ok(environmentOf(engine).includes(adminKey))
})
