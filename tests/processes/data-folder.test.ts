import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { claimDataFolder } from '../../src/processes/data-folder.ts'

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-claim-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Holds the folder as a supervisor does whose process id says nothing here. */
async function holdElsewhere(t: TestContext, folder: string) {
  const program = `require('node:net').createServer((socket) => socket.destroy())
    .listen(process.argv[1], () => console.log('listens'))`
  const child = spawn(process.execPath, ['-e', program, join(folder, 'supervisor.sock')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test('a folder that a process of another container holds is refused until that has ended, however it ended', async (t) => {
  const folder = aFolder(t)
  const child = await holdElsewhere(t, folder)
  const claim = join(folder, 'supervisor.pid')
  writeFileSync(claim, '1 1 another-boot\n')

  await assert.rejects(claimDataFolder(folder), {
    code: 'CONFIG_INVALID',
    message: /another Shelftrace \(in another container.*end that one/u,
  })
  assert.equal(readFileSync(claim, 'utf8'), '1 1 another-boot\n')

  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(existsSync(join(folder, 'supervisor.sock')), 'the killed one has left its socket')
  const claimed = await claimDataFolder(folder)
  claimed.release()
})

test('what was claimed is held against others and free again once it is released', async (t) => {
  const folder = aFolder(t)
  const first = await claimDataFolder(folder)

  await assert.rejects(claimDataFolder(folder), { code: 'CONFIG_INVALID' })
  first.release()
  const second = await claimDataFolder(folder)
  second.release()

  assert.deepEqual(
    ['supervisor.pid', 'supervisor.sock'].map((name) => existsSync(join(folder, name))),
    [false, false]
  )
})

test('a folder whose path is too long for a socket is claimed without one', async (t) => {
  const folder = join(aFolder(t), 'x'.repeat(120))
  const claimed = await claimDataFolder(folder)

  assert.ok(existsSync(join(folder, 'supervisor.pid')))
  claimed.release()
})
