// A node is backed up while it takes events, killed, and another one is made of the backup.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { sha256Of } from '../../src/backup/manifest.ts'
import { eventually, prepareService } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import { shelftrace } from '../helpers/shelftrace.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

async function backUp(service: Service, name: string): Promise<string> {
  const { code, stderr } = await shelftrace(['backup', name], {
    SHELFTRACE_URL: service.campaignUrl,
    SHELFTRACE_KEY: service.adminKey,
  })
  assert.equal(code, 0, stderr)
  return join(service.dataDir, 'backups', name)
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-restore-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A data folder as a new machine has it: the secrets of the installation, nothing else. */
function newMachine(t: TestContext, service: Service): string {
  const folder = temporaryFolder(t)
  cpSync(join(service.dataDir, 'secrets.json'), join(folder, 'secrets.json'))
  return folder
}

const aWeek = { startDate: daysAgo(5), endDate: daysAgo(-1) }

/** Every report of the advertiser and of the operator, as bytes. */
async function readAll(service: Service, key: string): Promise<readonly string[]> {
  const reports = '/v2/advertisers/1/reports'
  const asked: [string, string, unknown?][] = [
    ...['CLK_14_DAYS', 'IMP_1_DAY', 'IMP_1_DAY_CLK_14_DAYS'].map(
      (attributionProfile): [string, string, unknown] => [
        'POST',
        `${reports}/spa/product.csv`,
        { ...aWeek, attributionProfile },
      ]
    ),
    ['GET', `/v2/publishers/10/intake?startDate=${aWeek.startDate}&endDate=${aWeek.endDate}`],
    ['GET', '/admin/v1/catalog'],
    ['GET', '/admin/v1/markets/1/products'],
  ]
  const answers: string[] = []
  for (const [method, path, body] of asked) {
    const answer = await fetch(`${service.campaignUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    answers.push(`${path} ${answer.status}\n${await answer.text()}`)
  }
  return answers
}

function daysAgo(count: number): string {
  return new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10)
}

test('a node made of a backup answers every report like the one that was backed up and has lost', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const shoppers = await Shoppers.prepare(service, 3_000)
  const made = await service.admin('POST', '/admin/v1/keys', {
    name: 'reader',
    scopes: ['admin', 'report:read', 'intake:read'],
    advertisers: 'all',
    publishers: 'all',
  })
  assert.equal(made.status, 201, await made.clone().text())
  const { key } = (await made.json()) as { key: string }
  shoppers.start(4)
  await eventually('some purchases', async () => {
    await Promise.resolve()
    return shoppers.acknowledged.purchases > 30
  })

  const before = { ...shoppers.acknowledged }
  const underLoad = await backUp(service, 'under-load')
  await shoppers.stop()
  await eventually('all is attributed', async () => {
    return (await readFigures(service)).purchases === shoppers.acknowledged.purchases
  })
  const reports = await readAll(service, key)
  const still = await backUp(service, 'still')
  await service.killAll()

  // Folders of nodes go with the whole test: hooks run in order, and a node must have ended first.
  await t.test('equal in every byte, under the keys of before', async (part) => {
    assert.ok(
      reports.every((report) => /^\S+ 200\n/u.test(report)),
      reports.join('\n')
    )
    const dataDir = newMachine(t, service)

    const { code, stdout, stderr } = await shelftrace(['restore', still], {
      SHELFTRACE_DATA_DIR: dataDir,
    })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Restored into .+, \d+ files and [\d,]+ rows, checked\.$/mu)
    const restored = await prepareService(part, { dataDir })
    await restored.start()

    await eventually('the reports are those of before', async () => {
      return (await readAll(restored, key)).join('\n') === reports.join('\n')
    })
    assert.deepEqual(await readAll(restored, key), reports)
    assert.deepEqual(await readFigures(restored), shoppers.acknowledged)
  })

  await t.test('with all that was acknowledged before the backup, counted once', async (part) => {
    const dataDir = newMachine(t, service)

    const { code, stderr } = await shelftrace(['restore', underLoad], {
      SHELFTRACE_DATA_DIR: dataDir,
    })
    assert.equal(code, 0, stderr)
    const restored = await prepareService(part, { dataDir })
    await restored.start()

    await eventually('the spool is shipped and attributed', async () => {
      return (await readFigures(restored)).purchases >= before.purchases
    })
    const figures = await readFigures(restored)
    for (const name of ['impressions', 'clicks', 'purchases', 'valueCents'] as const) {
      assert.ok(figures[name] >= before[name], `${name}: ${figures[name]} of ${before[name]}`)
      assert.ok(figures[name] <= shoppers.acknowledged[name], name)
    }
  })

  await t.test(
    'while a backup with a damaged or a missing file is refused, by its name',
    async (part) => {
      const copy = copyOf(part, still)
      const list = readFileSync(join(copy, 'files.sha256'), 'utf8')
      const [victim = ''] = /warehouse\/store\/\S+\/data\.bin/u.exec(list) ?? []
      const bytes = readFileSync(join(copy, victim))
      bytes[0] = (bytes[0] ?? 0) ^ 1
      writeFileSync(join(copy, victim), bytes)
      await assertRefused(part, { service, source: copy, reason: /data\.bin is damaged/u })

      rmSync(join(copy, victim))
      await assertRefused(part, { service, source: copy, reason: /data\.bin is missing/u })
    }
  )

  await t.test(
    'while a backup that somebody could have written is refused, and foreign definitions always',
    async (part) => {
      const copy = copyOf(part, still)
      const [line = '', victim = ''] =
        /^\S+ {2}(warehouse\/\S+\/audit\.sql)$/mu.exec(
          readFileSync(join(copy, 'files.sha256'), 'utf8')
        ) ?? []
      const definition = readFileSync(join(copy, victim), 'utf8')
      const foreign = definition.replace(
        /ENGINE = MergeTree[^]*$/u,
        "ENGINE = File(CSV, '/etc/passwd')"
      )
      writeFileSync(join(copy, victim), foreign)
      const list = readFileSync(join(copy, 'files.sha256'), 'utf8').replace(
        line,
        `${sha256Of(foreign)}  ${victim}`
      )
      writeFileSync(join(copy, 'files.sha256'), list)
      const manifest: Record<string, unknown> = JSON.parse(
        readFileSync(join(copy, 'manifest.json'), 'utf8')
      )
      writeFileSync(
        join(copy, 'manifest.json'),
        JSON.stringify({ ...manifest, fileListSha256: sha256Of(list) })
      )

      await assertRefused(part, { service, source: copy, reason: /manifest\.json was altered/u })
      rmSync(join(copy, 'manifest.hmac'))
      await assertRefused(part, { service, source: copy, reason: /no manifest\.hmac/u })
      const reason = /the definition of audit is not the one/u
      await assertRefused(part, { service, source: copy, reason, options: ['--unsigned'] })
    }
  )

  await t.test('also after restores that were killed, at whatever point', async (part) => {
    const dataDir = newMachine(part, service)
    for (const signal of ['SIGKILL', 'SIGINT', 'SIGTERM'] as const) {
      const { child } = await beginRestore(part, { source: still, dataDir })
      child.kill(signal)
      await once(child, 'exit')
      assert.ok(existsSync(join(dataDir, 'restoring')), signal)
    }

    const ended = await shelftrace(['restore', still], { SHELFTRACE_DATA_DIR: dataDir })
    assert.equal(ended.code, 0, ended.stderr)
    const whole = ['secrets.json', 'spool', 'warehouse']
    assert.deepEqual(readdirSync(dataDir), whole)

    // Killed between its last two steps: all is in its place, and the empty draft is still there.
    mkdirSync(join(dataDir, 'restoring'))
    const again = await shelftrace(['restore', still], { SHELFTRACE_DATA_DIR: dataDir })
    assert.equal(again.code, 0, again.stderr)
    assert.deepEqual(readdirSync(dataDir), whole)
  })

  await t.test('and while another restore into the folder runs, none begins', async (part) => {
    const dataDir = newMachine(part, service)
    const { child, ended } = await beginRestore(part, { source: still, dataDir })
    child.kill('SIGSTOP')

    const second = await shelftrace(['restore', still], { SHELFTRACE_DATA_DIR: dataDir })

    assert.equal(second.code, 1)
    const drained = await shelftrace(['drain'], { SHELFTRACE_DATA_DIR: dataDir })
    assert.equal(drained.code, 1)
    assert.match(drained.stderr, /a restore into .+ is under way/u)
    assert.match(second.stderr, new RegExp(`another Shelftrace \\(process ${child.pid}\\)`, 'u'))
    child.kill('SIGCONT')
    assert.equal(await ended, 0)
    assert.deepEqual(readdirSync(dataDir), ['secrets.json', 'spool', 'warehouse'])
  })

  await t.test('also a backup without a proof, when told to', async (part) => {
    const copy = copyOf(part, still)
    rmSync(join(copy, 'manifest.hmac'))

    const ended = await shelftrace(['restore', copy, '--unsigned'], {
      SHELFTRACE_DATA_DIR: newMachine(part, service),
    })

    assert.equal(ended.code, 0, ended.stderr)
    assert.match(ended.stdout, /^Restored into /u)
  })

  await t.test(
    'never over data that is there, and not without the secrets of the installation',
    async (part) => {
      const used = newMachine(part, service)
      mkdirSync(join(used, 'spool'))
      const bare = temporaryFolder(part)
      const strange = temporaryFolder(part)
      const secrets: Record<string, unknown> = JSON.parse(
        readFileSync(join(service.dataDir, 'secrets.json'), 'utf8')
      )
      writeFileSync(
        join(strange, 'secrets.json'),
        JSON.stringify({ ...secrets, identitySecret: randomBytes(32).toString('base64') }),
        { mode: 0o600 }
      )

      const attempts = [
        [used, /must be empty except for the secrets file; it contains spool/u],
        [bare, /a backup contains no secrets: first put your copy/u],
        [strange, /another identity secret/u],
      ] as const
      for (const [dataDir, reason] of attempts) {
        const held = readdirSync(dataDir)
        const ended = await shelftrace(['restore', still], { SHELFTRACE_DATA_DIR: dataDir })
        assert.equal(ended.code, 1)
        assert.match(ended.stderr, reason)
        assert.deepEqual(readdirSync(dataDir), held)
      }
    }
  )
})

/** Resolves once it has begun to copy. */
async function beginRestore(
  t: TestContext,
  { source, dataDir }: { readonly source: string; readonly dataDir: string }
) {
  const child = spawn(process.execPath, ['dist/cli.js', 'restore', source], {
    env: { PATH: process.env['PATH'], SHELFTRACE_DATA_DIR: dataDir },
    stdio: 'ignore',
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(([code]: unknown[]) => code)
  const claim = join(dataDir, 'supervisor.pid')
  await eventually(
    'the restore copies',
    () => {
      const isOurs = !existsSync(claim) || readFileSync(claim, 'utf8').startsWith(`${child.pid} `)
      return Promise.resolve(isOurs && existsSync(join(dataDir, 'restoring', 'warehouse', 'store')))
    },
    60_000,
    5
  )
  return { child, ended }
}

function copyOf(t: TestContext, backup: string): string {
  const copy = join(temporaryFolder(t), 'copy')
  cpSync(backup, copy, { recursive: true })
  return copy
}

interface Refused {
  readonly service: Service
  readonly source: string
  readonly reason: RegExp
  readonly options?: readonly string[]
}

/** In one line, and the data folder is as it was. */
async function assertRefused(
  t: TestContext,
  { service, source, reason, options = [] }: Refused
): Promise<void> {
  const dataDir = newMachine(t, service)
  const { code, stderr } = await shelftrace(['restore', source, ...options], {
    SHELFTRACE_DATA_DIR: dataDir,
  })
  assert.equal(code, 1)
  assert.match(stderr, reason)
  assert.equal(stderr.trim().split('\n').length, 1, stderr)
  assert.deepEqual(readdirSync(dataDir), ['secrets.json'])
}
