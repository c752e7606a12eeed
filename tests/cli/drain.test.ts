// A drain of a node that runs is in tests/e2e/drain.test.ts.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFileSpool } from '../../src/spool/file-spool.ts'
import { countWaiting } from '../../src/spool/count-waiting.ts'
import { aConversion } from '../helpers/shipment.ts'
import { run } from './harness.ts'

test('where no node runs, a drain fails and says how many events wait, and changes nothing', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shelftrace-drain-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const drain = async () => {
    const { exitCode, stdout, stderr } = await run(['drain'], {
      environment: { SHELFTRACE_DATA_DIR: dataDir },
    })
    assert.deepEqual([exitCode, stdout], [1, ''])
    return stderr
  }

  assert.match(
    await drain(),
    /No node runs here with the data folder .*; nothing waits in its spool/u
  )
  assert.equal(existsSync(join(dataDir, 'spool')), false)

  const path = join(dataDir, 'spool')
  const spool = openFileSpool({ path, bytesMax: 1e6, clock: Date.now })
  await Promise.all([1, 2, 3].map(() => spool.append(aConversion())))
  const before = readdirSync(path)
  // Of a process that has ended, or of one that runs by now under the same number.
  writeFileSync(join(dataDir, 'supervisor.pid'), `${process.pid} 1 another-boot\n`)

  assert.match(await drain(), /; 3 events wait/u)
  assert.deepEqual(readdirSync(path), before)
  const waiting = countWaiting(dataDir)
  assert.deepEqual(waiting, { events: 3, bytes: spool.depth().bytes })

  await spool.remove(spool.read(10))
  await spool.close()
  assert.deepEqual(countWaiting(dataDir), { events: 0, bytes: 0 })
})
