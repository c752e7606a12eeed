// Runs the checks that must be green beside the tests: types, lint, format and unused code, all at the same time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const checks = ['types', 'lint', 'format:check', 'knip']

async function check(name: string): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const output = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code]: unknown[] = await ended
  console.log(`${code === 0 ? '✔' : '✖'} ${name}`)
  if (code !== 0) console.error(output.join(''))
  return code === 0
}

const results = await Promise.all(checks.map(check))
process.exitCode = results.includes(false) ? 1 : 0
