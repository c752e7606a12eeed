// ClickHouse in process looks for settings in its working directory and below HOME, and ends where it may not look.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { freePort } from '../../scripts/free-port.ts'
import { prepareService } from '../helpers/service.ts'
import { shelftrace } from '../helpers/shelftrace.ts'

const nobody = 65_534
/** Of whatever program: were it read, ClickHouse would end. */
const foreign = 'a: <project>'

interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** As another user than root, who may do everything. */
  readonly asNobody?: boolean
  /** The working directory goes before the program begins. */
  readonly isDeleted?: boolean
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A service is ended once it takes traffic. */
async function run(words: readonly string[], given: Surroundings, dataDir: string): Promise<Ended> {
  const { cwd, env, asNobody = false, isDeleted = false } = given
  const program = [process.execPath, resolve('dist/cli.js'), ...words]
  const script = `${isDeleted ? 'rmdir "$PWD" && ' : ''}exec "$@"`
  const child = spawn('sh', ['-c', script, 'sh', ...program], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      SHELFTRACE_DATA_DIR: dataDir,
      SHELFTRACE_TRACKING_PORT: String(await freePort()),
      SHELFTRACE_CAMPAIGN_PORT: String(await freePort()),
      SHELFTRACE_TRACKERS: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(asNobody && process.getuid?.() === 0 && { uid: nobody, gid: nobody }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString()
    if (stdout.includes('takes traffic')) child.kill('SIGTERM')
  })
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

let shared: { readonly folder: string; readonly backup: string; readonly secrets: string }

before(async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-surroundings-'))
  chmodSync(folder, 0o755)
  const lifetime = t as TestContext
  lifetime.after(() => rmSync(folder, { recursive: true, force: true }))
  const service = await prepareService(lifetime)
  await service.start()
  const { code, stderr } = await shelftrace(['backup', 'one'], {
    SHELFTRACE_URL: service.campaignUrl,
    SHELFTRACE_KEY: service.adminKey,
  })
  assert.equal(code, 0, stderr)
  const backup = join(folder, 'backup')
  const secrets = join(folder, 'secrets.json')
  cpSync(join(service.dataDir, 'backups', 'one'), backup, { recursive: true })
  cpSync(join(service.dataDir, 'secrets.json'), secrets)
  shared = { folder, backup, secrets }
})

/** Everything that opens a warehouse: a restore, the start behind it, and a copy into a server. */
async function assertAllRun(surroundings: () => Surroundings): Promise<void> {
  const dataDir = mkdtempSync(join(shared.folder, 'data-'))
  cpSync(shared.secrets, join(dataDir, 'secrets.json'))
  const backup = `${dataDir}-backup`
  cpSync(shared.backup, backup, { recursive: true })
  const { asNobody = false } = surroundings()
  if (asNobody && process.getuid?.() === 0) {
    execFileSync('chown', ['-R', `${nobody}:${nobody}`, dataDir, backup])
  }

  const restored = await run(['restore', backup], surroundings(), dataDir)
  const served = await run(['serve'], surroundings(), dataDir)
  const url = `http://127.0.0.1:${await freePort()}/`
  const { env, ...place } = surroundings()
  const noServer = { ...place, env: { ...env, SHELFTRACE_WAREHOUSE_URL: url } }
  const copied = await run(['warehouse', 'copy'], noServer, dataDir)

  assert.match(restored.stdout, /^Restored into /u, restored.stderr)
  assert.match(served.stdout, /takes traffic/u, served.stderr)
  assert.equal(served.code, 0)
  // The own warehouse is opened first.
  assert.match(copied.stderr, /the warehouse could not take a query/u)
  for (const { stderr } of [restored, served, copied]) {
    assert.doesNotMatch(stderr, /cannot be opened|EmbeddedServer/u)
  }
}

function makeFolder(name: string): string {
  const folder = join(shared.folder, name)
  mkdirSync(folder, { recursive: true })
  return folder
}

test('neither a config.xml in the working directory nor settings of ClickHouse below HOME are read', async () => {
  const cwd = makeFolder('project')
  const home = makeFolder('home')
  writeFileSync(join(cwd, 'config.xml'), foreign)
  for (const ending of ['xml', 'yaml', 'yml']) {
    writeFileSync(join(makeFolder('home/.clickhouse-local'), `config.${ending}`), foreign)
  }

  await assertAllRun(() => ({ cwd, env: { HOME: home } }))
})

test('a working directory that the user may not enter, or that is gone, makes no difference', async () => {
  const closed = makeFolder('closed')
  const cwd = makeFolder('closed/below')
  chmodSync(closed, 0o700)

  await assertAllRun(() => ({ cwd, asNobody: true }))
  await assertAllRun(() => ({ cwd: makeFolder('gone'), isDeleted: true }))
})

test('a relative path from a working directory that is gone is refused, and the directory is named as the cause', async () => {
  const gone = { cwd: makeFolder('gone'), isDeleted: true }

  const { code, stderr } = await run(['restore', 'backup'], gone, join(shared.folder, 'unused'))

  assert.equal(code, 1)
  assert.match(
    stderr,
    /^shelftrace: the working directory is gone, so relative paths lead nowhere/u
  )
})

for (const zone of ['CET-1CEST,M3.5.0,M10.5.0/3', 'Europe/Berlin ']) {
  test(`TZ=${JSON.stringify(zone)}, which ClickHouse does not know, makes no difference`, async () => {
    await assertAllRun(() => ({ cwd: shared.folder, env: { TZ: zone } }))
  })
}
