// Runs the tests with node's own runner. Node 20 neither expands globs nor finds .ts files by
// folder, so this lists the files and hands them over; the runner's summary and exit code stand.
// The in-process warehouse needs a larger thread pool, which only the environment can give.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
const files = readdirSync('tests', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `tests/${file}`)
  .filter((file) => wanted.length === 0 || wanted.some((word) => file.includes(word)))
  .toSorted()

if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`)
  process.exit(1)
}

// End-to-end tests run the service as built.
const built = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(built.status ?? 1)

const run = spawnSync(
  process.execPath,
  ['--import', 'tsx', '--test', '--test-concurrency=2', ...options, ...files],
  { stdio: 'inherit', env: { ...process.env, UV_THREADPOOL_SIZE: '16' } }
)
process.exit(run.status ?? 1)
