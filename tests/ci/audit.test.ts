// With a stand-in for npm, since what the registry says is nothing a test can depend on.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test, type TestContext } from 'node:test'

function runAudit(t: TestContext, npm: string) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-audit-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 })
  const path = `${folder}${delimiter}${process.env['PATH'] ?? ''}`
  return spawnSync(join('.ci', 'audit'), { env: { PATH: path }, encoding: 'utf8' })
}

test('a report of vulnerabilities fails the check and is shown', (t) => {
  const run = runAudit(t, `echo '{"auditReportVersion":2,"vulnerabilities":{"x":{}}}'; exit 1`)

  assert.equal(run.status, 1)
  assert.match(run.stderr, /"vulnerabilities":\{"x"/)
})

test('a clean report passes in silence', (t) => {
  const run = runAudit(t, `echo '{"auditReportVersion":2,"vulnerabilities":{}}'`)

  assert.deepEqual([run.status, run.stdout, run.stderr], [0, '', ''])
})

const silences: readonly (readonly [string, string])[] = [
  ['has no such operation', `echo '{"statusCode":405,"error":{}}'; exit 1`],
  ['cannot be reached', 'echo "npm error network" >&2; exit 1'],
]
for (const [silence, npm] of silences) {
  test(`a registry that ${silence} passes, and it is told that nothing was checked`, (t) => {
    const run = runAudit(t, npm)

    assert.equal(run.status, 0)
    assert.match(run.stderr, /were not checked/)
  })
}
