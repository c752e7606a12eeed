import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ChildSlot } from '../../src/processes/child-slot.ts'

/** A slot whose processes run the program; resolves with how the first of them ended. */
function startSlot(t: TestContext, program: string) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-slot-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'child.mjs')
  writeFileSync(path, program)
  const children: ChildProcess[] = []
  t.after(() => children.forEach((child) => child.kill('SIGKILL')))
  let heard: () => void
  const ready = new Promise<void>((resolve) => (heard = resolve))
  let resolve: (how: object) => void
  const ended = new Promise<object>((tell) => (resolve = tell))
  const slot = new ChildSlot({
    tracker: 0,
    fork: () => {
      const child = fork(path, { execArgv: [] })
      children.push(child)
      return child
    },
    onMessage: () => heard(),
    onEnd: (_slot, how) => resolve(how),
  })
  slot.start()
  return { slot, ready, ended }
}

const staysForEver = `
  process.on('SIGTERM', () => {})
  process.on('disconnect', () => {})
  setInterval(() => {}, 1_000)
`

test('a process that said that it failed and does not end is killed', async (t) => {
  const { slot, ended } = startSlot(
    t,
    `${staysForEver}; process.send({ type: 'failed', message: 'no', cause: '', isFinal: false })`
  )

  assert.deepEqual(await ended, { code: null, signal: 'SIGKILL' })
  assert.equal(slot.lastFailure, 'no')
  assert.equal(slot.isEmpty, true)
})

test('a process that was told to drain, or has let go of its supervisor, and does not end is killed', async (t) => {
  const drained = startSlot(t, `${staysForEver}; process.send({ type: 'ready' })`)
  const gone = startSlot(
    t,
    `${staysForEver}; process.send({ type: 'ready' }); process.disconnect()`
  )
  await drained.ready

  drained.slot.end()

  assert.deepEqual(await drained.ended, { code: null, signal: 'SIGKILL' })
  assert.deepEqual(await gone.ended, { code: null, signal: 'SIGKILL' })
})

test('a process that cannot even be forked counts as one that ended', async () => {
  for (const fail of [
    () => fork('/nowhere.mjs', { execPath: '/nowhere/node', execArgv: [] }),
    () => {
      throw new Error('EAGAIN')
    },
  ]) {
    const how = await new Promise<object>((resolve) => {
      new ChildSlot({
        tracker: 1,
        fork: fail,
        onMessage: () => undefined,
        onEnd: (_slot, seen) => resolve(seen),
      }).start()
    })

    assert.match(JSON.stringify(how), /ENOENT|EAGAIN/u)
  }
})
