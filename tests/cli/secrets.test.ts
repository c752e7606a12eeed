import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ensureSecrets } from '../../src/secrets.ts'
import { folder, run, useCliServer } from './harness.ts'

useCliServer()

test('secrets create makes what a node starts with, for its owner alone, and never replaces any of it', async () => {
  const dataDir = join(folder, 'new-secrets')
  const secretsFile = join(dataDir, 'secrets.json')

  const { exitCode, stdout } = await run(['secrets', 'create', dataDir])

  assert.equal(exitCode, 0)
  const made = readFileSync(secretsFile, 'utf8')
  const { identitySecret, adminKey } = ensureSecrets({ dataDir, secretsFile, adminKey: null })
  assert.equal(identitySecret.length, 32)
  for (const file of ['secrets.json', 'admin-key']) {
    assert.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600)
    assert.ok(stdout.includes(join(dataDir, file)))
  }
  // What is secret is in the files only.
  assert.ok(!stdout.includes(adminKey))

  const again = await run(['secrets', 'create', dataDir])

  assert.equal(again.exitCode, 1)
  assert.match(again.stderr, /secrets\.json exists\. Nothing was changed/u)
  assert.equal(readFileSync(secretsFile, 'utf8'), made)
})
