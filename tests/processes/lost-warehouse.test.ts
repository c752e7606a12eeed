import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { refuseLostWarehouse } from '../../src/processes/lost-warehouse.ts'

/** A data folder with these files. */
function aDataDir(t: TestContext, files: readonly string[]): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'shelftrace-lost-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  for (const file of files) {
    mkdirSync(dirname(join(dataDir, file)), { recursive: true })
    writeFileSync(join(dataDir, file), '')
  }
  return dataDir
}

test('each file that a node makes after its warehouse proves that there was one', (t) => {
  for (const made of ['identity-fingerprint', 'node-id', 'spool/0001.seg']) {
    const dataDir = aDataDir(t, ['secrets.json', 'admin-key', made])

    assert.throws(() => refuseLostWarehouse({ dataDir, warehouseUrls: null }), {
      code: 'CONFIG_INVALID',
      message: new RegExp(`${dataDir}/warehouse is missing or empty, and ${dataDir}/[a-z-]+ is of`),
    })
  }
})

test('a first start, one behind a first start that was killed, and one behind a restore go on', (t) => {
  const first = ['secrets.json', 'admin-key', 'supervisor.pid', 'spool/lost+found/x']
  const killed = [...first, 'warehouse/status']
  const restored = ['secrets.json', 'spool/0001.seg', 'warehouse/metadata/shelftrace.sql']
  for (const files of [[], first, killed, restored]) {
    refuseLostWarehouse({ dataDir: aDataDir(t, files), warehouseUrls: null })
  }
})

test('a warehouse on a server is not looked for in the data folder', (t) => {
  const dataDir = aDataDir(t, ['secrets.json', 'identity-fingerprint', 'node-id', 'spool/0001.seg'])

  refuseLostWarehouse({ dataDir, warehouseUrls: ['http://127.0.0.1:8123/'] })
})
