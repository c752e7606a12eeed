import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

/** Stands for tsx, which hands signals on to the demo. Never outlives a test that fails. */
const standIn = `#!/usr/bin/env node
process.on('SIGTERM', () => { console.log('told to end'); process.exit(0) })
setTimeout(() => process.exit(1), 60_000)
console.log('running', ...process.argv.slice(2))
`

test('SIGTERM to `npm run demo` reaches the demo, which stops its service', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-demo-npm-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { scripts } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  ) as { readonly scripts: Readonly<Record<string, string>> }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }))
  const bin = join(folder, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'tsx'), standIn)
  chmodSync(join(bin, 'tsx'), 0o755)

  const npm = spawn('npm', ['run', '--silent', 'demo', '--', '--once'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  npm.stdout.once('data', () => npm.kill('SIGTERM'))
  const printed = await text(npm.stdout)

  assert.equal(printed, 'running scripts/demo.ts --once\ntold to end\n')
})
