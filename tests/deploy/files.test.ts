import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { parse } from 'yaml'
import { parseConfig } from '../../src/config.ts'

const compose = readFileSync('deploy/compose.yaml', 'utf8')
const unit = readFileSync('deploy/shelftrace.service', 'utf8')

function lacks(program: string): false | string {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
    ? false
    : `there is no ${program}`
}

test('the unit file is the one that the guide shows', () => {
  const guide = readFileSync('docs/guides/operator.md', 'utf8')
  assert.equal(/^```ini\n([\s\S]*?)^```$/mu.exec(guide)?.[1], unit)
})

test(
  'systemd understands every line of the unit, and finds little that it exposes',
  { skip: lacks('systemd-analyze') },
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'shelftrace-unit-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'shelftrace.service')
    // The program and the user of the unit need not be on the machine that checks it.
    const here = unit
      .replace(/^ExecStart=\S+/mu, `ExecStart=${process.execPath}`)
      .replace(/^User=.*$/mu, 'User=daemon')
    writeFileSync(path, here)

    const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    assert.deepEqual(
      verified.stderr.split('\n').filter((line) => line.includes('shelftrace.service')),
      []
    )
    const security = ['security', '--offline=true', '--threshold=40', path]
    const judged = spawnSync('systemd-analyze', security, { encoding: 'utf8' })
    assert.equal(judged.status, 0, judged.stdout + judged.stderr)
  }
)

test('the settings of the compose file are understood, and it takes away what the service does not need', () => {
  const given = Object.fromEntries(
    [...compose.matchAll(/^ {6}(SHELFTRACE_\w+): (.+)$/gmu)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll("'", '').replace(/^\$\{\w+:-(.*)\}$/u, '$1'),
    ])
  )
  const config = parseConfig({ ...given, SHELFTRACE_HOST: '0.0.0.0' })
  assert.equal(config.trustProxy, true)
  for (const line of ['read_only: true', '- ALL', '- no-new-privileges:true']) {
    assert.ok(compose.includes(line), line)
  }
  for (const port of ["'127.0.0.1:8080:8080'", "'127.0.0.1:8081:8081'"]) {
    assert.ok(compose.includes(port), port)
  }
})

test('Prometheus understands the alerting rules', { skip: lacks('promtool') }, () => {
  const checked = spawnSync('promtool', ['check', 'rules', 'docs/alerts.yaml'], {
    encoding: 'utf8',
  })
  assert.equal(checked.status, 0, checked.stdout + checked.stderr)
})

function backupSeries(values: string) {
  const name = 'shelftrace_last_backup_timestamp_seconds'
  return { interval: '1h', input_series: [{ series: name, values }] }
}

function backupTold(hours: number, isTold: boolean) {
  const alert = {
    exp_labels: { severity: 'ticket' },
    exp_annotations: { summary: 'There is no complete backup from the last 26 hours.' },
  }
  return {
    eval_time: `${hours}h`,
    alertname: 'ShelftraceBackupOld',
    exp_alerts: isTold ? [alert] : [],
  }
}

test(
  'the age of the backup is told after 26 hours, of a new installation too',
  { skip: lacks('promtool') },
  (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'shelftrace-rules-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const cases = [
      // Never one: a new installation has a day to make it.
      {
        ...backupSeries('NaN+0x60'),
        alert_rule_test: [backupTold(1, false), backupTold(25, false), backupTold(27, true)],
      },
      {
        ...backupSeries('NaN+0x20 72000+0x40'),
        alert_rule_test: [backupTold(30, false), backupTold(47, true)],
      },
    ]
    const file = join(folder, 'test.json')
    const rules = resolve('docs/alerts.yaml')
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [rules], evaluation_interval: '1h', tests: cases })
    )

    const checked = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })

    assert.equal(checked.status, 0, checked.stdout + checked.stderr)
  }
)

test('the compose file of a cluster has three replicas of one shard, and the service understands its addresses', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { services, volumes } = parse(readFileSync('deploy/compose.cluster.yaml', 'utf8'), {
    merge: true,
  }) as {
    readonly services: Readonly<
      Record<
        string,
        { readonly environment: Record<string, string>; readonly volumes: readonly string[] }
      >
    >
    readonly volumes: Readonly<Record<string, unknown>>
  }
  const config = parseConfig({
    ...services['shelftrace']?.environment,
    SHELFTRACE_HOST: '0.0.0.0',
  })
  const hosts = config.warehouseUrls?.map((url) => new URL(url).hostname) ?? []
  assert.deepEqual(hosts, ['clickhouse-1', 'clickhouse-2', 'clickhouse-3'])
  const keepers = readFileSync('deploy/cluster/replica.xml', 'utf8').matchAll(/<host>(.+?)</gu)
  assert.deepEqual(
    [...keepers].map(([, host]) => host),
    Object.keys(services).filter((name) => name.startsWith('keeper'))
  )
  for (const host of hosts) {
    const { user, password } = {
      user: services[host]?.environment['CLICKHOUSE_USER'],
      password: services[host]?.environment['CLICKHOUSE_PASSWORD'],
    }
    const url = new URL(config.warehouseUrls?.find((one) => one.includes(host)) ?? '')
    assert.deepEqual([url.username, url.password], [user, password])
    assert.equal(services[host]?.environment['REPLICA'], host)
  }
  const mounted = Object.values(services).flatMap((service) => service.volumes)
  for (const mount of mounted) {
    const [source = ''] = mount.split(':')
    const isThere = source.startsWith('.') ? existsSync(join('deploy', source)) : source in volumes
    assert.ok(isThere, mount)
  }
  assert.match(readFileSync('deploy/cluster/database.sql', 'utf8'), /ENGINE = Replicated\(/u)
})

test('the test of a live cluster says so where there is no Docker', () => {
  const run = spawnSync(process.execPath, ['node_modules/tsx/dist/cli.mjs', 'scripts/cluster.ts'], {
    encoding: 'utf8',
    env: { PATH: '/nowhere' },
  })
  assert.equal(run.status, 1)
  assert.match(run.stderr, /There is no Docker with Compose here/u)
})

async function checkContainer(env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, ['deploy/healthcheck.mjs'], { env })
  const [[exitCode], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)])
  return `${exitCode}${stderr}`
}

// Only Linux has all addresses of the loopback network.
const lacksAddress = process.platform === 'linux' ? false : 'it needs Linux'

test(
  'the check of a container asks where the service listens, whatever Kubernetes says of a Service of that name',
  { skip: lacksAddress },
  async (t) => {
    const server = createServer((_request, response) => response.end('alive'))
    server.listen(0, '127.0.0.2')
    await once(server, 'listening')
    t.after(() => server.close())
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    const { port } = server.address() as AddressInfo
    const SHELFTRACE_CAMPAIGN_PORT = String(port)
    const link = 'tcp://10.0.0.12:8081'

    const right = { SHELFTRACE_HOST: '127.0.0.2', SHELFTRACE_CAMPAIGN_PORT }
    assert.equal(await checkContainer(right), '0')
    assert.equal(await checkContainer({ ...right, SHELFTRACE_HOST: '0.0.0.0' }), '1')
    assert.equal(await checkContainer({ ...right, SHELFTRACE_CAMPAIGN_PORT: link }), '1')
  }
)
