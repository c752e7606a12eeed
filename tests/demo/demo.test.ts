import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

const runMsMax = 240_000
const isBuilt = existsSync('dist/cli.js')

test(
  'the demo starts the service, loads a history, plays 200 shoppers and finds every figure as expected',
  {
    timeout: runMsMax,
    skip: isBuilt ? false : 'dist/cli.js is missing; npm run build makes it',
  },
  async (t) => {
    const options = [
      '--once',
      '--shoppers',
      '200',
      '--seed',
      '7',
      '--days',
      '9',
      '--ads-per-day',
      '300',
    ]
    const ports = ['--tracking-port', '0', '--campaign-port', '0']
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', 'scripts/demo.ts', ...options, ...ports],
      { stdio: ['ignore', 'pipe', 'pipe'] }
    )
    t.after(() => child.kill('SIGTERM'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (text: string) => (output += text))
    }

    const [code]: unknown[] = await once(child, 'close')

    assert.equal(code, 0, output)
    assert.match(output, /^\d{4} events of 9 days are loaded/m)
    assert.match(output, /^CHECK PASSED$/m)
    assert.match(output, /^0 answers that were not expected\.$/m)
  }
)
