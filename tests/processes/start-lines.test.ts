import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startLines } from '../../src/processes/start-lines.ts'
import { ensureSecrets, listMissing } from '../../src/secrets.ts'

test('a start says whether it makes a new installation, and in which files its secrets are', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-start-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const source = { dataDir, secretsFile: join(dataDir, 'secrets.json'), adminKey: null }
  const say = () => startLines({ ...source, newSecrets: listMissing(source) })

  const first = say()
  ensureSecrets(source)
  const second = say()
  rmSync(join(dataDir, 'admin-key'))
  const keyless = say()

  assert.ok(
    first.startsWith(
      `It makes a new installation in the data folder ${dataDir}, with new secrets in ` +
        `${source.secretsFile} and ${join(dataDir, 'admin-key')}.\n`
    )
  )
  assert.match(first, /stop this and set SHELFTRACE_DATA_DIR/u)
  assert.equal(second, `Its data folder is ${dataDir}.\n`)
  assert.match(keyless, /, with a new key in .*admin-key\.\n$/u)
  assert.ok(![first, second, keyless].some((text) => text.includes('st_')))
})

test('a key that is given makes no file, and is not told', () => {
  const secretsFile = '/nowhere/secrets.json'
  const source = { dataDir: '/nowhere', secretsFile, adminKey: 'k'.repeat(40) }

  assert.deepEqual(listMissing(source), [secretsFile])
})
