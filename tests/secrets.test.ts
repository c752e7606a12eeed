import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { ensureSecrets } from '../src/secrets.ts'
import type { SecretsSource } from '../src/secrets.ts'

function source(t: TestContext): SecretsSource {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-secrets-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  return { dataDir, secretsFile: join(dataDir, 'secrets.json'), adminKey: null }
}

test('secrets are made once, readable by their owner only, and found again', (t) => {
  const from = source(t)

  const made = ensureSecrets(from)
  const found = ensureSecrets(from)

  assert.equal(made.identitySecret.length, 32)
  assert.deepEqual(found.identitySecret, made.identitySecret)
  assert.equal(found.identityFingerprint, made.identityFingerprint)
  assert.equal(found.adminKey, made.adminKey)
  assert.match(made.adminKey, /^st_[\w-]{43}$/)
  assert.equal(statSync(from.secretsFile).mode & 0o777, 0o600)
  assert.equal(statSync(join(from.dataDir, 'admin-key')).mode & 0o777, 0o600)
})

test('an admin key that is given is used and no file is made for it', (t) => {
  const from = { ...source(t), adminKey: 'k'.repeat(40) }

  const secrets = ensureSecrets(from)

  assert.equal(secrets.adminKey, 'k'.repeat(40))
  assert.throws(() => statSync(join(from.dataDir, 'admin-key')))
})

test('a broken secrets file is named with the field and never quoted', (t) => {
  const from = source(t)
  ensureSecrets(from)
  const whole = readFileSync(from.secretsFile, 'utf8')
  const canary = 'canary-of-a-secret'
  for (const [content, field] of [
    [`{"identitySecret":"${canary}"}`, /identitySecret must be 32 bytes/],
    [canary, /must be JSON/],
    ['[]', /identitySecret/],
    [whole.replace(/"key": "[^"]+"/, `"key": "${canary}"`), /keyRing/],
  ] as const) {
    writeFileSync(from.secretsFile, content)

    assert.throws(
      () => ensureSecrets(from),
      (error: Error) => field.test(error.message) && !error.message.includes(canary)
    )
  }
})

test('an admin-key file that was emptied is refused', (t) => {
  const from = source(t)
  ensureSecrets(from)
  writeFileSync(join(from.dataDir, 'admin-key'), '\n')

  assert.throws(() => ensureSecrets(from), /admin-key must hold a key/)
})
