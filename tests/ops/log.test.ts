import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
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
