import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
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
