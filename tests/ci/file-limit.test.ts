import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { FileLimit } from '../../scripts/file-limit.ts'

/** It starts a process of its own, which holds its output and ignores a polite request. */
const hanging = `
  const { spawn } = require('node:child_process')
  spawn('sh', ['-c', 'trap "" TERM; echo started; sleep 600; true'], { stdio: 'inherit' })
  process.on('SIGTERM', () => undefined)`

test('a file that runs too long is ended with all that it started, even if they ignore SIGTERM', async (t) => {
  const { path, child } = aFile(t, hanging)
  await once(child.stdout, 'readable')

  const told = await new Promise((resolve) => {
    const limit = new FileLimit({
      limitMs: 1,
      onOverdue: (overdue, isEnded) => resolve([overdue, isEnded]),
    })
    limit.begin(path)
  })
  // The output ends once no process has it open.
  const output = await buffer(child.stdout)
  if (child.signalCode === null) await once(child, 'exit')

  assert.deepEqual(told, [path, true])
  assert.equal(output.toString(), 'started\n')
  assert.equal(child.signalCode, 'SIGKILL')
})

// A process may be started between the look at what runs and the end of its parent.
test('what a file starts at the last moment is ended with it', async (t) => {
  const forking = `
    const { spawn } = require('node:child_process')
    spawn('sh', ['-c', 'while true; do (echo x; exec sleep 60) & sleep 0.01; done'], { stdio: 'inherit' })`
  const { path, child } = aFile(t, forking)
  await once(child.stdout, 'readable')

  await new Promise((resolve) => {
    new FileLimit({ limitMs: 100, onOverdue: resolve }).begin(path)
  })

  // It ends once no process has it open.
  assert.match((await buffer(child.stdout)).toString(), /^(?:x\n)+$/u)
})

test('a file that ended in time is not reported', (t) => {
  const reported: string[] = []
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const limit = new FileLimit({ limitMs: 1_000, onOverdue: (path) => reported.push(path) })

  limit.begin('in-time.js')
  limit.begin('too-long.js')
  t.mock.timers.tick(999)
  limit.complete('in-time.js')
  t.mock.timers.tick(1)

  assert.deepEqual(reported, ['too-long.js'])
})

test('where the process of a file is not found, the caller is told so', async () => {
  const told = await new Promise((resolve) => {
    const limit = new FileLimit({ limitMs: 1, onOverdue: (...given) => resolve(given) })
    limit.begin('no-process-has-this-path.js')
  })

  assert.deepEqual(told, ['no-process-has-this-path.js', false])
})

function aFile(t: TestContext, program: string) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-limit-'))
  const path = join(folder, 'hanging.js')
  writeFileSync(path, program)
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return { path, child }
}
