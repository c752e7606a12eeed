import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const program = `
  const { createLog } = await import('./src/ops/log.ts')
  const log = createLog({ level: 'info', process: 'tracker' })
  for (let line = 0; line < 10_000; line += 1) log.info('x'.repeat(1_000))
  await new Promise((resolve) => setImmediate(resolve))
  console.log('alive')
`

test('a log whose disk is full ends no process', () => {
  const full = openSync('/dev/full', 'w')

  const run = spawnSync(process.execPath, ['--import=tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
  })
  closeSync(full)

  assert.equal(run.status, 0)
  assert.match(run.stdout, /alive/u)
})

/** Logs far more than a pipe holds, says so, and logs once more when it is told to. */
const talker = `
  const { createLog } = await import('./src/ops/log.ts')
  const log = createLog({ level: 'info', process: 'tracker' })
  for (let line = 0; line < 10_000; line += 1) log.info({ line }, 'x'.repeat(1_000))
  console.log('alive')
  process.stdin.once('data', async () => {
    for (const word of ['read', 'again']) {
      log.info(word)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    process.exit()
  })
`

test('a log that nobody reads keeps no process waiting, and says how many lines are lost once it is read', async (t) => {
  const child = spawn(process.execPath, ['--import=tsx', '--input-type=module', '-e', talker])
  t.after(() => child.kill('SIGKILL'))
  child.stderr.pause()

  await once(child.stdout, 'data')
  const logged = text(child.stderr)
  child.stdin.write('go on')
  const lines = (await logged).trimEnd().split('\n')

  const said = lines.map((line) => JSON.parse(line) as { msg: string; line?: number })
  const kept = said.flatMap(({ line }) => line ?? [])
  assert.deepEqual(
    kept,
    kept.map((_, index) => index)
  )
  const lost = said.find(({ msg }) => msg.includes('lost'))?.msg
  assert.equal(lost, `${10_000 - kept.length} lines of the log are lost, since nobody read it`)
  assert.ok(said.some(({ msg }) => msg === 'again'))
})
