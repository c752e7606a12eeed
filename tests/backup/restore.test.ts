// What is refused before the engine is needed; whole restores are in tests/e2e.

import assert from 'node:assert/strict'
import { constants } from 'node:buffer'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import {
  deriveProofKey,
  fileListName,
  manifestName,
  proofName,
  proofOf,
  sha256Of,
} from '../../src/backup/manifest.ts'
import { refuseHalfRestored, restoreBackup } from '../../src/backup/restore.ts'
import type { RestoreOptions } from '../../src/backup/restore.ts'

const proofKey = deriveProofKey(Buffer.alloc(32, 7))

interface Made {
  readonly fileList?: string
  readonly changes?: Readonly<Record<string, unknown>>
}

/** A backup of one segment, a data folder with nothing but the secrets, and how to restore. */
function aBackup(t: TestContext, { fileList, changes }: Made = {}): RestoreOptions {
  const root = mkdtempSync(join(tmpdir(), 'shelftrace-restore-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [source, dataDir] = [join(root, 'backup'), join(root, 'data')]
  mkdirSync(join(source, 'spool'), { recursive: true })
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'secrets.json'), '{}')
  writeFileSync(join(source, 'spool', 'a.seg'), 'events')
  const list = fileList ?? `${sha256Of('events')}  spool/a.seg\n`
  writeFileSync(join(source, fileListName), list)
  const manifest = {
    format: 1,
    version: '1.0.0',
    engineVersion: '26.7',
    takenAt: '2026-03-01T09:30:00.000Z',
    identityFingerprint: 'aa',
    trackingKeyIds: ['00000001'],
    migrations: ['0001-events.sql'],
    tables: [],
    fileCount: 1,
    bytes: 6,
    fileListSha256: sha256Of(list),
    ...changes,
  }
  const text = JSON.stringify(manifest)
  writeFileSync(join(source, manifestName), text)
  writeFileSync(join(source, proofName), proofOf(proofKey, text))
  return {
    source,
    dataDir,
    secretsFile: join(dataDir, 'secrets.json'),
    identityFingerprint: 'aa',
    trackingKeyIds: ['00000001', '00000002'],
    proofKey,
    acceptsUnsigned: false,
  }
}

/** And the data folder is as it was. */
async function assertRefused(options: RestoreOptions, code: string, reason: RegExp) {
  const held = readdirSync(options.dataDir)
  await assert.rejects(restoreBackup(options), { code, message: reason })
  assert.deepEqual(readdirSync(options.dataDir), held)
}

test('a folder without a manifest, or with one that is damaged or of another format, is no backup', async (t) => {
  const bare = aBackup(t)
  rmSync(join(bare.source, manifestName))
  await assertRefused(bare, 'BACKUP_INVALID', /never completed/u)

  const cut = aBackup(t)
  writeFileSync(join(cut.source, manifestName), '{"format": 1, "vers')
  await assertRefused(cut, 'BACKUP_INVALID', /manifest\.json is damaged/u)

  await assertRefused(aBackup(t, { changes: { format: 2 } }), 'BACKUP_INVALID', /has format 2/u)
})

test('a path that is no folder of a backup is told as what it is', async (t) => {
  const backup = aBackup(t)
  const { source } = backup
  const root = dirname(source)
  cpSync(source, join(root, 'another'), { recursive: true })
  const file = join(source, manifestName)

  for (const [path, reason] of [
    [join(root, 'nothing'), /nothing cannot be restored: there is no such folder$/u],
    [file, /manifest\.json cannot be restored: it is a file; name the folder of a backup$/u],
    [root, /: it holds backups; name one of them: another, backup$/u],
  ] as const) {
    await assertRefused({ ...backup, source: path }, 'BACKUP_INVALID', reason)
  }
})

test('of many backups in a folder the last ten by name are listed', async (t) => {
  const backup = aBackup(t)
  const source = join(dirname(backup.source), 'many')
  const names = Array.from({ length: 12 }, (_, index) => `2026030${index + 10}`)
  for (const name of names) cpSync(backup.source, join(source, name), { recursive: true })

  await assertRefused(
    { ...backup, source },
    'BACKUP_INVALID',
    new RegExp(`: it holds backups; name one of them: …, ${names.slice(2).join(', ')}$`, 'u')
  )
})

test('a file that is longer than any that was written is named and not read', async (t) => {
  for (const [name, bytesMax] of [
    [manifestName, 1_048_576],
    [proofName, 1_024],
    [fileListName, constants.MAX_STRING_LENGTH],
  ] as const) {
    const backup = aBackup(t)
    // Without blocks of the disk.
    truncateSync(join(backup.source, name), bytesMax + 1)

    await assertRefused(
      backup,
      'BACKUP_INVALID',
      new RegExp(
        `${name.replace('.', '[.]')} has ${bytesMax + 1} bytes, and none that was written has more than ${bytesMax}`,
        'u'
      )
    )
  }
})

test('a folder in the place of a file of the backup is named', async (t) => {
  const backup = aBackup(t)
  rmSync(join(backup.source, manifestName))
  mkdirSync(join(backup.source, manifestName))

  await assertRefused(backup, 'BACKUP_INVALID', /manifest\.json is not a file/u)
})

test('a list of files never leads out of the data folder, though its digest is right', async (t) => {
  const digest = '0'.repeat(64)
  const paths = [
    '../x',
    '/etc/passwd',
    'spool/../../x',
    'spool/..',
    'spool//x',
    'secrets.json',
    'spool',
    'warehouse/a/./b',
    'spool/a\\b',
    'spool/a/b',
    'warehouse/config.xml',
    'warehouse/metadata/other.sql',
    'warehouse/metadata/shelftrace/t.sql',
    'warehouse/user_defined/function.sql',
    'warehouse/store/abc/x.sql',
  ]
  for (const path of paths) {
    const options = aBackup(t, { fileList: `${digest}  ${path}\n` })
    await assertRefused(options, 'BACKUP_INVALID', /a line that no backup has/u)
  }
})

test('a file that is damaged or missing is named', async (t) => {
  const damaged = aBackup(t)
  writeFileSync(join(damaged.source, 'spool', 'a.seg'), 'eventz')
  await assertRefused(damaged, 'BACKUP_INVALID', /spool\/a\.seg is damaged/u)

  const missing = aBackup(t)
  rmSync(join(missing.source, 'spool', 'a.seg'))
  await assertRefused(missing, 'BACKUP_INVALID', /spool\/a\.seg is missing/u)
})

test('a backup needs the secrets of its installation, with every tracking key that it had', async (t) => {
  const strange = { ...aBackup(t), identityFingerprint: 'bb' }
  await assertRefused(strange, 'CONFIG_INVALID', /another identity secret/u)

  const old = { ...aBackup(t), trackingKeyIds: ['00000002'] }
  await assertRefused(old, 'CONFIG_INVALID', /lacks tracking keys .+00000001/u)
})

test('a manifest that was altered is refused, and so is a proof under other secrets, whatever is accepted', async (t) => {
  for (const acceptsUnsigned of [false, true]) {
    const altered = { ...aBackup(t), acceptsUnsigned }
    const path = join(altered.source, manifestName)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"bytes":6', '"bytes":7'))
    await assertRefused(altered, 'BACKUP_INVALID', /manifest\.json was altered/u)

    const strange = {
      ...aBackup(t),
      acceptsUnsigned,
      proofKey: deriveProofKey(Buffer.alloc(32, 8)),
    }
    await assertRefused(strange, 'BACKUP_INVALID', /was altered/u)

    const cut = { ...aBackup(t), acceptsUnsigned }
    writeFileSync(join(cut.source, proofName), '')
    await assertRefused(cut, 'BACKUP_INVALID', /was altered/u)
  }
})

test('a backup without a proof is refused unless that is said, and its definitions are looked at then', async (t) => {
  const unsigned = aBackup(t)
  rmSync(join(unsigned.source, proofName))

  await assertRefused(unsigned, 'BACKUP_INVALID', /no manifest\.hmac.+--unsigned/u)
  // It has no tables.
  const accepted = { ...unsigned, acceptsUnsigned: true }
  await assertRefused(accepted, 'BACKUP_INVALID', /the definition of \S+ is not the one/u)
})

test('a backup of a newer version is refused, and so is a folder that holds data', async (t) => {
  const newer = aBackup(t, { changes: { migrations: ['9999-later.sql'] } })
  await assertRefused(newer, 'BACKUP_INVALID', /newer version .+9999-later\.sql/u)

  const used = aBackup(t)
  mkdirSync(join(used.dataDir, 'spool'))
  await assertRefused(
    used,
    'CONFIG_INVALID',
    /empty except for the secrets file; it contains spool/u
  )
})

test('what stands beside the draft of a restore that was killed is its own only if the draft lacks it', async (t) => {
  const options = aBackup(t)
  for (const path of ['restoring/spool', 'restoring/warehouse', 'spool']) {
    mkdirSync(join(options.dataDir, path), { recursive: true })
  }

  await assertRefused(options, 'CONFIG_INVALID', /it contains spool/u)
})

test('a node does not start on what a restore that broke off has left', (t) => {
  const { dataDir } = aBackup(t)
  refuseHalfRestored(dataDir)
  mkdirSync(join(dataDir, 'restoring'))

  assert.throws(() => refuseHalfRestored(dataDir), { code: 'CONFIG_INVALID' })
})
