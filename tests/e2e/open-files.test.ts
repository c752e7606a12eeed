import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../../scripts/free-port.ts'
import { eventually, statusOf } from '../helpers/service.ts'
import { aConversion } from '../tracking/fixture.ts'

async function environment(folder: string) {
  return {
    PATH: process.env['PATH'],
    SHELFTRACE_DATA_DIR: join(folder, 'data'),
    SHELFTRACE_TRACKING_PORT: String(await freePort()),
    SHELFTRACE_CAMPAIGN_PORT: String(await freePort()),
    SHELFTRACE_TRACKERS: '1',
  }
}

function aFolder(): string {
  return mkdtempSync(join(tmpdir(), 'shelftrace-files-'))
}

/** Under a hard limit, which Node cannot raise. */
function serveWith(limit: number): readonly string[] {
  return ['-c', `ulimit -n ${limit}; exec "$0" dist/cli.js serve`, process.execPath]
}

test('a limit of open files that is too low for a service ends its start and names the limit', async (t) => {
  const folder = aFolder()
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const run = spawnSync('sh', serveWith(200), {
    env: await environment(folder),
    encoding: 'utf8',
    timeout: 60_000,
  })

  assert.equal(run.status, 1)
  assert.match(run.stderr, /^shelftrace: the limit of open files is 200, at least 512 .*ulimit -n/u)
})

test('idle connections beyond the limit of open files end no tracker and keep no purchase out', async (t) => {
  const folder = aFolder()
  const env = await environment(folder)
  const trackingPort = Number(env.SHELFTRACE_TRACKING_PORT)
  const child = spawn('sh', serveWith(512), { env, stdio: 'ignore' })
  const sockets: Socket[] = []
  // The runner leaves out the hooks after one that fails, and a folder in use may not be empty when it is
  // removed: the service would go on, and this process with it.
  t.after(async () => {
    sockets.forEach((socket) => socket.destroy())
    if (child.kill('SIGTERM')) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  const isReady = async () => (await statusOf(`http://127.0.0.1:${trackingPort}/readyz`)) === 200
  await eventually('the tracker is ready', isReady)
  const children = () => readdirSync('/proc').filter((pid) => parentOf(pid) === child.pid)
  const before = children()

  for (let count = 0; count < 1_500; count += 1) {
    // So many networks that all of them together are far beyond the limit.
    const localAddress = `127.0.${1 + (count % 50)}.1`
    const socket = connect({ port: trackingPort, host: '127.0.0.1', localAddress })
    socket.on('error', () => undefined)
    sockets.push(socket)
    await once(socket, 'connect')
    if (count % 100 === 0) assert.equal(await deliver(trackingPort), 200)
  }

  assert.equal(await deliver(trackingPort), 200)
  assert.deepEqual(children(), before, 'no process was started again')
})

async function deliver(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/conversion`, {
    method: 'POST',
    body: JSON.stringify(aConversion()),
  })
  return response.status
}

function parentOf(pid: string): number | null {
  if (!/^\d+$/u.test(pid)) return null
  try {
    return Number(/^PPid:\s*(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    // It ended between the two looks.
    return null
  }
}
