import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Backups } from '../../src/backup/backups.ts'
import { checkProof, deriveProofKey, readManifest } from '../../src/backup/manifest.ts'
import { ServiceError } from '../../src/errors.ts'
import { openEmbeddedWarehouse } from '../../src/warehouse/embedded.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { eventually } from '../helpers/service.ts'
import { silentLog } from '../helpers/silent-log.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'shelftrace-backups-'))
const folder = join(dataDir, 'backups')
const proofKey = deriveProofKey(Buffer.alloc(32, 7))
let warehouse: Warehouse

before(async () => {
  warehouse = openEmbeddedWarehouse({ path: join(dataDir, 'warehouse') })
  await migrate(warehouse)
  mkdirSync(join(dataDir, 'spool'))
})

after(async () => {
  await warehouse.close()
  rmSync(dataDir, { recursive: true, force: true })
})

function openBackups(changes: Partial<ConstructorParameters<typeof Backups>[0]> = {}): Backups {
  return new Backups({
    warehouse,
    dataDir,
    folder,
    whileStill: (work) => work(),
    version: '1.2.3',
    identityFingerprint: 'f'.repeat(16),
    trackingKeyIds: ['00000001'],
    proofKey,
    clock: () => Date.UTC(2026, 2, 1, 9, 30),
    log: silentLog,
    ...changes,
  })
}

async function stateOf(backups: Backups, name: string) {
  await eventually('it has ended', async () => {
    await Promise.resolve()
    return backups.list().find((one) => one.name === name)?.state !== 'running'
  })
  return backups.list().find((one) => one.name === name)
}

test('a backup without a name is called by its instant, can be read by its owner only, and leaves nothing held', async () => {
  const backups = openBackups()

  const started = backups.start()

  assert.equal(started.kind, 'started')
  const name = '20260301T093000Z'
  const ended = await stateOf(backups, name)
  assert.equal(ended?.state, 'complete', ended?.reason)
  const manifest = readManifest(join(folder, name))
  assert.equal(manifest?.version, '1.2.3')
  assert.equal(manifest.takenAt, ended.takenAt)
  assert.equal(
    manifest.tables.find((table) => table.name === 'migration')?.rowCount,
    manifest.migrations.length
  )
  const text = readFileSync(join(folder, name, 'manifest.json'), 'utf8')
  assert.equal(checkProof(join(folder, name), proofKey, text), 'right')
  assert.equal(statSync(join(folder, name, 'manifest.hmac')).mode & 0o777, 0o600)
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, name, 'manifest.json')).mode & 0o777, 0o600)
  assert.equal(existsSync(join(dataDir, 'warehouse', 'shadow')), false)
  assert.equal(existsSync(join(dataDir, 'held-spool')), false)
})

test('while one is running there is no other, and a name is never used twice', async () => {
  const backups = openBackups()

  assert.equal(backups.start('one').kind, 'started')
  assert.deepEqual(backups.start('two'), { kind: 'running', name: 'one' })
  await stateOf(backups, 'one')

  assert.deepEqual(backups.start('one'), { kind: 'taken', name: 'one' })
})

test('one that the stop of the service breaks off says so and has no manifest', async () => {
  const backups = openBackups()
  backups.start('broken-off')

  await backups.close()

  const found = backups.list().find(({ name }) => name === 'broken-off')
  assert.equal(found?.state, 'failed')
  assert.equal(found.reason, 'the service was stopped')
  assert.equal(readManifest(join(folder, 'broken-off')), null)
  assert.equal(existsSync(join(dataDir, 'warehouse', 'shadow')), false)
  // Another process knows no more than that it is not complete.
  const later = openBackups()
    .list()
    .find(({ name }) => name === 'broken-off')
  assert.equal(later?.state, 'incomplete')
})

test('one that fails for want of room says so, whatever the statement failed with', async () => {
  const refused = new ServiceError('WAREHOUSE_REFUSED', 'the warehouse refused a statement')
  const whileStill = () => Promise.reject(refused)
  const full = openBackups({ whileStill, isDiskFull: () => true })
  full.start('full')
  const other = openBackups({ whileStill, isDiskFull: () => false })

  assert.equal((await stateOf(full, 'full'))?.reason, `the disk of ${dataDir} is full: make room`)
  other.start('other')
  assert.equal((await stateOf(other, 'other'))?.reason, 'the warehouse refused a statement')
})

test('a segment that grows while it is copied, and one that is shipped meanwhile, are in the backup whole', async () => {
  const segment = '0123456789ab-0123456789ab-00000001.seg'
  const path = join(dataDir, 'spool', segment)
  writeFileSync(path, 'first')
  writeFileSync(`${path}.done`, '2')
  const backups = openBackups({
    whileStill: async (work) => {
      const result = await work()
      writeFileSync(path, ' and more', { flag: 'a' })
      writeFileSync(`${path}.done`, '14')
      rmSync(path)
      return result
    },
  })

  backups.start('spool')

  const ended = await stateOf(backups, 'spool')
  assert.equal(ended?.state, 'complete', ended?.reason)
  const copied = join(folder, 'spool', 'spool', segment)
  assert.equal(readFileSync(copied, 'utf8'), 'first and more')
  assert.equal(readFileSync(`${copied}.done`, 'utf8'), '2')
})

test('a folder that cannot be made is told, and nothing is begun', () => {
  writeFileSync(join(dataDir, 'a-file'), '')
  const backups = openBackups({ folder: join(dataDir, 'a-file') })

  assert.equal(backups.start('x').kind, 'unwritable')
})
