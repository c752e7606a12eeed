// With a stand-in for npm, since what the registry says is nothing a test can depend on.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test, type TestContext } from 'node:test'

interface Run {
  readonly program: string
  readonly args?: readonly string[]
  readonly npm: string
  readonly env?: Readonly<Record<string, string>>
}

function run(t: TestContext, { program, args = [], npm, env = {} }: Run) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-audit-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 })
  // It waits between its attempts.
  writeFileSync(join(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 })
  const path = `${folder}${delimiter}${process.env['PATH'] ?? ''}`
  return spawnSync(join('.ci', program), args, { env: { PATH: path, ...env }, encoding: 'utf8' })
}

const audit = { program: 'audit' } as const

test('a report of vulnerabilities fails the check and is shown', (t) => {
  const npm = `echo '{"auditReportVersion":2,"vulnerabilities":{"x":{}}}'; exit 1`

  const { status, stderr } = run(t, { ...audit, npm })

  assert.equal(status, 1)
  assert.match(stderr, /"vulnerabilities":\{"x"/)
})

test('a clean report passes in silence', (t) => {
  const npm = `echo '{"auditReportVersion":2,"vulnerabilities":{}}'`

  const { status, stdout, stderr } = run(t, { ...audit, npm })

  assert.deepEqual([status, stdout, stderr], [0, '', ''])
})

for (const answer of ['{"statusCode":405,"error":{}}', '{ "statusCode": 404, "body": "" }']) {
  const npm = `echo '${answer}'; exit 1`

  test(`a registry that has no audits (${answer}) is told about and passes`, (t) => {
    const { status, stderr } = run(t, { ...audit, npm })

    assert.equal(status, 0)
    assert.match(stderr, /NOT DONE/)
  })

  test(`it fails where audits are required (${answer})`, (t) => {
    const { status, stderr } = run(t, { ...audit, npm, env: { AUDIT_REQUIRED: '1' } })

    assert.equal(status, 1)
    assert.match(stderr, /were not checked/)
  })
}

const silences: readonly (readonly [string, string])[] = [
  ['cannot be reached', 'echo "npm error network" >&2; exit 1'],
  ['fails', `echo '{"statusCode":503}'; exit 1`],
  ['answers something else', `echo '{"statusCode":4050}'; exit 0`],
]
for (const [silence, npm] of silences) {
  test(`a registry that ${silence} fails the check, since nothing is known then`, (t) => {
    const { status, stderr } = run(t, { ...audit, npm })

    assert.equal(status, 1)
    assert.match(stderr, /were not checked/)
  })
}

test('a registry that answers at the second time is heard', (t) => {
  const npm = `cd "$(dirname "$0")"
    if [ -e asked ]; then echo '{"auditReportVersion":2}'; else touch asked; exit 1; fi`

  assert.equal(run(t, { ...audit, npm }).status, 0)
})

interface Locked {
  readonly version: string
  readonly resolved?: string
  readonly integrity?: string
}

const isFetched = (key: string) => key.startsWith('node_modules/') && !key.includes('@shelftrace/')

function readLock(path = 'package-lock.json'): Readonly<Record<string, Locked>> {
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(path, 'utf8')
  )
  return lock.packages
}

/** Builds for other platforms whose digests npm had no way to fetch; `.ci/lock.mjs --write` puts them in. */
const withoutDigest = new Set(
  ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu'].map((name) => `node_modules/@chdb/lib-${name}`)
)

test('every package of the lock file carries a digest and names no host, but for builds that are listed here', () => {
  const packages = Object.entries(readLock()).filter(([key]) => isFetched(key))

  assert.ok(packages.length > 100)
  for (const [key, { integrity, resolved }] of packages) {
    assert.equal(resolved, undefined, key)
    if (integrity === undefined) assert.ok(withoutDigest.has(key), key)
    else assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, key)
  }
})

test('a digest that can be had and is missing fails the check, which can put it in', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-lock-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'package-lock.json')
  const digest = `sha512-${'a'.repeat(86)}==`
  const packages = {
    '': { version: '1.0.0' },
    'node_modules/a': { version: '1.0.0', integrity: digest },
    'node_modules/a/node_modules/@b/c': { version: '2.0.0', optional: true },
    'node_modules/unknown': { version: '3.0.0' },
  }
  writeFileSync(path, JSON.stringify({ packages }))
  const npm = `[ "$2" = "@b/c@2.0.0" ] && echo "${digest}"`
  const call = { program: 'lock.mjs', npm, env: { LOCK_FILE: path } } as const

  const checked = run(t, call)
  assert.equal(checked.status, 1)
  assert.match(checked.stderr, /@b\/c@2\.0\.0 has no digest; it is sha512-a/)
  assert.match(checked.stderr, /NOT CHECKED: unknown@3\.0\.0/)

  assert.equal(run(t, { ...call, args: ['--write'] }).status, 0)
  const written = readLock(path)
  assert.equal(written['node_modules/a/node_modules/@b/c']?.integrity, digest)
  assert.equal(written['node_modules/unknown']?.integrity, undefined)
  assert.equal(run(t, call).status, 0)
})
