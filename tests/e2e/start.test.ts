// Starts that cannot succeed end with one sentence and exit code 1; those that can wait until they do.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/free-port.ts'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import { eventually, prepareService, signalProcess, statusOf } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'

const nobody = 65_534

interface Run {
  readonly stdout: string
  readonly status: number | null
  readonly stderr: string
}

interface Start {
  readonly env: Readonly<Record<string, string>>
  /** As another user than root, who may do everything. */
  readonly asNobody?: boolean
  /** `serve` when absent. */
  readonly words?: readonly string[]
  /** The program that runs it, with its options. */
  readonly within?: readonly string[]
}

function serve({ env, asNobody = false, words = ['serve'], within = [] }: Start): Run {
  const isRoot = process.getuid?.() === 0
  const [program = '', ...args] = [...within, process.execPath, 'dist/cli.js', ...words]
  return spawnSync(program, args, {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
    timeout: 60_000,
    ...(asNobody && isRoot && { uid: nobody, gid: nobody }),
  })
}

function assertOneSentence({ status, stderr }: Run, sentence: RegExp): void {
  assert.match(stderr, sentence)
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  assert.match(stderr, /^shelftrace: /u)
  assert.equal(status, 1)
}

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-start-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function environment(t: TestContext): Promise<Record<string, string>> {
  return await environmentIn(makeFolder(t))
}

async function environmentIn(folder: string): Promise<Record<string, string>> {
  return {
    SHELFTRACE_DATA_DIR: join(folder, 'data'),
    SHELFTRACE_TRACKING_PORT: String(await freePort()),
    SHELFTRACE_CAMPAIGN_PORT: String(await freePort()),
    SHELFTRACE_TRACKERS: '1',
  }
}

async function takePort(t: TestContext, port: number): Promise<void> {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(port, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => holder.close(() => resolve())))
}

for (const variable of ['SHELFTRACE_TRACKING_PORT', 'SHELFTRACE_CAMPAIGN_PORT']) {
  test(`a first start whose ${variable} is taken ends at once and names port and variable`, async (t) => {
    const env = await environment(t)
    await takePort(t, Number(env[variable]))

    const run = serve({ env })

    assertOneSentence(run, new RegExp(`port ${env[variable]} of 127.0.0.1 is taken.*${variable}`))
    assert.match(
      run.stdout,
      /^Shelftrace \S+ starts.*\nIt makes a new installation in the data folder .*data, /u
    )
  })
}

test('a second node on a folder in use ends at once, names its process and folder, and the first goes on', async (t) => {
  const service = await prepareService(t)
  await service.start()

  const run = serve({ env: { ...(await environment(t)), SHELFTRACE_DATA_DIR: service.dataDir } })

  assertOneSentence(
    run,
    new RegExp(`another Shelftrace \\(process ${service.pid}\\).*SHELFTRACE_DATA_DIR`)
  )
  assert.equal(await statusOf(`${service.campaignUrl}/readyz`), 200)
})

const noNamespace = process.getuid?.() === 0 ? false : 'only root makes a namespace of processes'

test(
  'a second node in another container, which sees no process of the first, ends at once, and the first goes on',
  { skip: noNamespace },
  async (t) => {
    const service = await prepareService(t)
    await service.start()
    const claim = join(service.dataDir, 'supervisor.pid')
    const before = readFileSync(claim, 'utf8')

    // Processes of its own, the first of which is 1, as in a container with the same volume.
    const run = serve({
      env: { ...(await environment(t)), SHELFTRACE_DATA_DIR: service.dataDir },
      within: ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child'],
    })

    assertOneSentence(run, /another Shelftrace \(in another container.*SHELFTRACE_DATA_DIR/u)
    assert.equal(readFileSync(claim, 'utf8'), before)
    assert.equal(await statusOf(`${service.campaignUrl}/readyz`), 200)
  }
)

test('an address that the machine has not, and a data folder below a file or that is a link to nothing, are named with their variables', async (t) => {
  const env = await environment(t)
  const file = join(makeFolder(t), 'file')
  writeFileSync(file, '')
  const link = `${file}-link`
  symlinkSync(`${file}-nothing`, link)

  const elsewhere = serve({
    env: { ...env, SHELFTRACE_HOST: '192.0.2.1', SHELFTRACE_TRUST_PROXY: 'true' },
  })
  const below = serve({ env: { ...env, SHELFTRACE_DATA_DIR: join(file, 'data') } })

  assertOneSentence(elsewhere, /no address 192\.0\.2\.1.*SHELFTRACE_HOST/u)
  const linked = serve({ env: { ...env, SHELFTRACE_DATA_DIR: link } })

  assertOneSentence(linked, /file-link \(SHELFTRACE_DATA_DIR\) cannot be used.*link to nothing/u)
  assertOneSentence(below, /file\/data \(SHELFTRACE_DATA_DIR\) cannot be used.*\(ENOTDIR\)/u)
})

test('a folder that may not be written and secrets that may not be read are named without a stack', async (t) => {
  const folder = makeFolder(t)
  chmodSync(folder, 0o755)
  const sealed = join(folder, 'sealed')
  mkdirSync(sealed, { mode: 0o555 })
  const secretsFile = join(folder, 'secrets.json')
  writeFileSync(secretsFile, '{}')
  chmodSync(secretsFile, 0)
  const open = join(folder, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  const env = await environment(t)

  const unwritable = serve({ env: { ...env, SHELFTRACE_DATA_DIR: sealed }, asNobody: true })
  const unreadable = serve({
    env: { ...env, SHELFTRACE_DATA_DIR: open, SHELFTRACE_SECRETS_FILE: secretsFile },
    asNobody: true,
  })

  assertOneSentence(unwritable, /sealed \(SHELFTRACE_DATA_DIR\) cannot be used.*\(EACCES\)/u)
  assertOneSentence(unreadable, /secrets\.json cannot be read.*\(EACCES\)/u)
})

/** The service belongs to nobody from now on, where the test may give it away. */
function giveToNobody(path: string): void {
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${nobody}:${nobody}`, path])
}

// As after a command that somebody ran as root. A node that ran before goes on trying whatever may pass.
test('a part of the data folder that the user may not use ends also a node that ran before, and is named', async (t) => {
  const service = await prepareService(t)
  await service.start()
  await service.terminate()
  const { dataDir } = service
  giveToNobody(dataDir)
  const env = { ...(await environment(t)), SHELFTRACE_DATA_DIR: dataDir }
  const [prefix = ''] = readdirSync(join(dataDir, 'warehouse', 'store'))
  const [table = ''] = readdirSync(join(dataDir, 'warehouse', 'store', prefix))
  const tableFolder = join('warehouse', 'store', prefix, table)

  for (const part of ['spool', 'warehouse', 'node-id', 'identity-fingerprint', tableFolder]) {
    const path = join(dataDir, part)
    const { mode } = statSync(path)
    chmodSync(path, 0)
    const run = serve({ env, asNobody: true })
    chmodSync(path, mode)

    assertOneSentence(run, new RegExp(`${path} cannot be used: .*\\(EACCES\\)`, 'u'))
  }
})

test('a command that opens the warehouse names what its user may not use of it', async (t) => {
  const service = await prepareService(t)
  const warehouse = join(service.dataDir, 'warehouse')
  giveToNobody(service.dataDir)
  chmodSync(warehouse, 0)
  const env = {
    SHELFTRACE_DATA_DIR: service.dataDir,
    SHELFTRACE_WAREHOUSE_URL: 'http://127.0.0.1:1/',
  }

  const run = serve({ env, asNobody: true, words: ['warehouse', 'copy'] })
  chmodSync(warehouse, 0o700)

  assertOneSentence(run, new RegExp(`${warehouse} cannot be used: .*\\(EACCES\\)`, 'u'))
})

test('a certificate that is none ends the start with its variable', async (t) => {
  const env = await environment(t)
  const path = join(makeFolder(t), 'cert.pem')
  writeFileSync(path, 'no certificate')

  const run = serve({ env: { ...env, SHELFTRACE_TLS_CERT: path, SHELFTRACE_TLS_KEY: path } })

  assert.equal(run.status, 1)
  assert.match(run.stderr, /SHELFTRACE_TLS_CERT/u)
  assert.doesNotMatch(run.stderr, /\n\s+at |^\{/u)
})

/** Started, but not waited for. */
function begin(service: Service): Promise<Error | null> {
  return service.start().then(
    () => null,
    (error: unknown) => error as Error
  )
}

test('a start behind a killed node waits for what its children still hold, says so, and succeeds', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const [engine] = service.children('engine')
  assert.ok(engine !== undefined)
  signalProcess(engine, 'SIGSTOP')
  await service.kill()
  t.after(() => Promise.resolve(signalProcess(engine, 'SIGKILL')))

  const started = begin(service)
  await eventually('it tells what it waits for', async () => {
    await Promise.resolve()
    return /waits up to 30 s for port/u.test(service.stderr)
  })
  signalProcess(engine, 'SIGCONT')

  assert.equal(await started, null)
  assert.equal(await statusOf(`${service.campaignUrl}/readyz`), 200)
})

test('SIGTERM to a service that never took traffic ends it with an exit code that is not 0', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-start-'))
  const env = {
    ...(await environmentIn(folder)),
    SHELFTRACE_WAREHOUSE_URL: 'http://127.0.0.1:1/',
  }
  const child = spawn(process.execPath, ['dist/cli.js', 'serve'], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(async () => {
    if (child.kill('SIGKILL')) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  await eventually('it waits for its warehouse', async () => {
    await Promise.resolve()
    return stderr.includes('the warehouse cannot be reached yet')
  })

  child.kill('SIGTERM')

  const [code] = (await once(child, 'exit')) as [number | null]
  assert.equal(code, 1)
})

test('SIGTERM at any point of a first start ends it with 0 and leaves no draft, and the next start is whole', async (t) => {
  const env = await environment(t)
  const dataDir = env['SHELFTRACE_DATA_DIR'] ?? ''
  for (const afterMs of [150, 400, 900, 1_800]) {
    const child = spawn(process.execPath, ['dist/cli.js', 'serve'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    t.after(() => Promise.resolve(child.kill('SIGKILL')))
    let stderr = ''
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
    const ended = once(child, 'exit')
    await sleep(afterMs)
    child.kill('SIGTERM')

    const [code, signal] = (await ended) as [number | null, string | null]
    // The signal may come before the program begins; then nothing of it has run.
    if (signal === null) assert.equal(code, 0, `${afterMs} ms: ${stderr}`)
    else assert.ok(!existsSync(dataDir), `${afterMs} ms: ${signal}`)
    assert.doesNotMatch(stderr, /^\s+at /mu)
  }
})

test('what a process left that was killed while it made the secrets is gone after the next start', async (t) => {
  const service = await prepareService(t)
  mkdirSync(service.dataDir, { recursive: true })
  const draft = join(service.dataDir, 'secrets.json.0123456789ab')
  writeFileSync(draft, '{"identitySecret":')

  await service.start()

  assert.equal(existsSync(draft), false)
})

test('spool and warehouse are closed to other users whatever the data folder is, also where an older version left them open', async (t) => {
  const service = await prepareService(t)
  chmodSync(service.dataDir, 0o755)
  const parts = ['spool', 'warehouse'].map((name) => join(service.dataDir, name))
  const modes = () => parts.map((path) => (statSync(path).mode & 0o777).toString(8))
  for (const path of parts) rmSync(path, { recursive: true, force: true })

  await service.start()
  assert.deepEqual(modes(), ['700', '700'])
  await service.terminate()

  for (const path of parts) chmodSync(path, 0o755)
  await service.start()
  assert.deepEqual(modes(), ['700', '700'])
})

test('a node whose secrets file is lost is told to put the copy back, and no other file is made in its place', async (t) => {
  const service = await prepareService(t)
  await service.start()
  await service.terminate()
  const secretsFile = join(service.dataDir, 'secrets.json')
  rmSync(secretsFile)
  const held = readdirSync(service.dataDir)

  const run = serve({ env: { ...(await environment(t)), SHELFTRACE_DATA_DIR: service.dataDir } })

  assertOneSentence(run, /secrets\.json is missing.*put your copy of the file back/u)
  assert.doesNotMatch(run.stdout, /new installation/u)
  assert.deepEqual(readdirSync(service.dataDir), held)
})

for (const loss of ['is lost', 'was not mounted'] as const) {
  test(`a node whose warehouse ${loss} is asked for it or for a restore, and no other is made in its place`, async (t) => {
    const service = await prepareService(t)
    await service.start()
    await service.terminate()
    const warehouse = join(service.dataDir, 'warehouse')
    rmSync(warehouse, { recursive: true })
    // A disk of its own: the place where it belongs stays.
    if (loss === 'was not mounted') mkdirSync(join(warehouse, 'lost+found'), { recursive: true })
    const held = readdirSync(service.dataDir, { recursive: true })

    const run = serve({ env: { ...(await environment(t)), SHELFTRACE_DATA_DIR: service.dataDir } })

    assertOneSentence(
      run,
      new RegExp(
        `the warehouse ${warehouse} is missing or empty, .*mount its disk.*shelftrace restore`
      )
    )
    assert.deepEqual(readdirSync(service.dataDir, { recursive: true }), held)
  })
}

test('a warehouse that goes while the service runs is not made anew by an engine that is started again', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const [engine] = service.children('engine')
  assert.ok(engine !== undefined)
  const warehouse = join(service.dataDir, 'warehouse')
  signalProcess(engine, 'SIGSTOP')
  renameSync(warehouse, `${warehouse}-away`)
  signalProcess(engine, 'SIGKILL')

  await eventually('it says what is missing', () =>
    Promise.resolve(service.stderr.includes('is missing or empty'))
  )

  assert.equal(existsSync(warehouse), false)
  renameSync(`${warehouse}-away`, warehouse)
  await eventually('it goes on', async () => {
    return (await statusOf(`${service.campaignUrl}/readyz`)) === 200
  })
})

test('an installation whose warehouse is on a server needs none in its data folder, and says what to do without it', async (t) => {
  const standIn = await startClickHouseStandIn()
  t.after(() => standIn.close())
  const service = await prepareService(t, { env: { SHELFTRACE_WAREHOUSE_URL: standIn.url } })
  rmSync(join(service.dataDir, 'warehouse'), { recursive: true, force: true })
  await service.start()
  await service.terminate()
  await service.start()
  await service.terminate()

  const run = serve({ env: { ...(await environment(t)), SHELFTRACE_DATA_DIR: service.dataDir } })

  assertOneSentence(run, /set SHELFTRACE_WAREHOUSE_URL if it is on a ClickHouse server/u)
})
