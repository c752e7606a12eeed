import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { checkAdminKey } from '../src/access/token.ts'
import { parseConfig } from '../src/config.ts'
import { ensureSecrets, refuseOpenMode, removeDrafts } from '../src/secrets.ts'
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

test('secrets are read behind the byte order mark that an editor has put before them', (t) => {
  const from = source(t)
  const made = ensureSecrets(from)
  for (const path of [from.secretsFile, join(from.dataDir, 'admin-key')]) {
    writeFileSync(path, `\uFEFF${readFileSync(path, 'utf8')}`)
  }

  const found = ensureSecrets(from)

  assert.deepEqual(found.identitySecret, made.identitySecret)
  assert.equal(found.adminKey, made.adminKey)
})

test('secrets that are lost are not made anew in a folder that holds what was made with them', (t) => {
  for (const made of ['identity-fingerprint', 'warehouse/store', 'spool/0001.seg']) {
    const from = source(t)
    mkdirSync(join(from.dataDir, dirname(made)), { recursive: true })
    writeFileSync(join(from.dataDir, made), 'x')
    const held = readdirSync(from.dataDir)

    assert.throws(() => ensureSecrets(from), {
      code: 'CONFIG_INVALID',
      message: new RegExp(`${from.secretsFile} is missing, and ${from.dataDir}/[a-z-]+ was made`),
    })
    assert.deepEqual(readdirSync(from.dataDir), held)
  }
})

test('folders that are mounted empty do not keep a new installation from its secrets', (t) => {
  const from = source(t)
  for (const name of ['warehouse/lost+found', 'spool']) {
    mkdirSync(join(from.dataDir, name), { recursive: true })
  }

  assert.equal(ensureSecrets(from).identitySecret.length, 32)
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

test('every way to give an admin key that is too weak is refused by the same rule', (t) => {
  const rule = /at least 32 printable ASCII characters and no blanks/
  for (const key of ['k'.repeat(31), 'ä'.repeat(32), `${'k'.repeat(16)} ${'k'.repeat(16)}`]) {
    const from = source(t)
    ensureSecrets(from)
    writeFileSync(join(from.dataDir, 'admin-key'), key)

    assert.throws(() => ensureSecrets(from), rule)
    assert.throws(() => parseConfig({ SHELFTRACE_ADMIN_KEY: key }), rule)
    assert.throws(() => checkAdminKey(key), rule)
  }
})

test('a folder in the place of a secret is told as one, whatever its mode', (t) => {
  for (const mode of [0o755, 0o700]) {
    const from = source(t)
    ensureSecrets(from)
    for (const path of [join(from.dataDir, 'admin-key'), from.secretsFile]) {
      rmSync(path)
      mkdirSync(path, { mode })

      assert.throws(() => ensureSecrets(from), {
        code: 'CONFIG_INVALID',
        message: new RegExp(`${path} is a folder: Docker makes one`),
      })
      const environment = { SHELFTRACE_ADMIN_KEY_FILE: path }
      assert.throws(() => parseConfig(environment), /SHELFTRACE_ADMIN_KEY_FILE: .* is a folder/)
    }
  }
})

test('secrets that others can read are refused with what to do, and never read', (t) => {
  const from = source(t)
  ensureSecrets(from)
  for (const path of [from.secretsFile, join(from.dataDir, 'admin-key')]) {
    for (const mode of [0o644, 0o604, 0o660, 0o602]) {
      chmodSync(path, mode)

      assert.throws(() => ensureSecrets(from), new RegExp(`${path} is open to others.*chmod 600`))
    }
    chmodSync(path, 0o400)
    ensureSecrets(from)
  }
})

test('the group may read secrets of root, as they are mounted, and nobody else', () => {
  assert.doesNotThrow(() => refuseOpenMode('/x', { mode: 0o100440, uid: 0 }))
  for (const [mode, uid] of [
    [0o100440, 1000],
    [0o100444, 0],
    [0o100460, 0],
  ] as const) {
    assert.throws(() => refuseOpenMode('/x', { mode, uid }), { code: 'CONFIG_INVALID' })
  }
})

test('drafts of a process that was killed are removed, and nothing else is', (t) => {
  const from = source(t)
  ensureSecrets(from)
  const kept = ['secrets.json.bak', 'admin-key.0123456789ab.old', 'other.0123456789ab']
  const drafts = ['secrets.json.0123456789ab', 'admin-key.ffffffffffff']
  for (const name of [...kept, ...drafts]) writeFileSync(join(from.dataDir, name), '')

  removeDrafts(from)

  assert.deepEqual(
    readdirSync(from.dataDir).toSorted(),
    ['admin-key', 'secrets.json', ...kept].toSorted()
  )
})
