// Runs the tests with node's own runner: all of them, or those whose path contains a word. It prints
// how long each folder took, and in CI a test that was skipped fails the run.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { openEmbeddedWarehouse } from '../src/warehouse/embedded.ts'
import { migrate } from '../src/warehouse/migrate.ts'
import { bundleTests } from './bundle-tests.ts'

/** All that CI may lack. A test that is skipped there for another reason went missing in silence. */
const skippableInCi = 'SHELFTRACE_WAREHOUSE_URL names no ClickHouse server'

/** One file more than the cores of the smallest machine in use: tests of processes often wait. */
const concurrency = 3

/** Files that take minutes begin first, lest one of them is left alone at the end. */
const longest = [
  'browser/dashboard',
  'days/late-input',
  'faults/faults',
  'reports/report-figures',
  'erasure/erase.test',
  'reports/paging',
  'attribution/attribution',
  'days/seal.test',
  'days/retention',
  'docs/guides',
  'pipeline/suspended',
  'campaign/contract-report',
]

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { 'test-name-pattern': { type: 'string', multiple: true } },
})
const files = readdirSync('tests', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `tests/${file}`)
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .map((file) => ({ file, weight: weightOf(file) }))
  .toSorted((one, other) => other.weight - one.weight || (one.file < other.file ? -1 : 1))
  .map(({ file }) => file)
if (files.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`)
  process.exit(1)
}

// End-to-end tests run the service as built.
if (!isBuilt()) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const folder = mkdtempSync(join(fastFolder() ?? tmpdir(), 'shelftrace-tests-'))
// Some tests start the service as a user with fewer rights, who has to reach its files.
chmodSync(folder, 0o755)
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // Ends the processes of the test files, which would go on otherwise.
    stopping.abort()
    process.exit(1)
  })
}
process.env['TMPDIR'] = folder
// The in-process warehouse needs a larger thread pool, which only the environment can give.
process.env['UV_THREADPOOL_SIZE'] = '16'

symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
const bundles = await bundleTests(files, join(folder, 'bundles'))
// Test files inherit these. The loader of TypeScript is not needed, and would cost what bundling saves.
process.execArgv.splice(0, Infinity, '--enable-source-maps')

await migrateOnce(join(folder, 'warehouse'))

const skipped: string[] = []
const secondsByFolder = new Map<string, number>()
const results = run({
  files: [...bundles.keys()],
  concurrency,
  signal: stopping.signal,
  ...(values['test-name-pattern'] !== undefined && {
    testNamePatterns: values['test-name-pattern'],
  }),
})
const died: string[] = []
results.on('test:fail', ({ name, nesting, details }) => {
  process.exitCode = 1
  const file = bundles.get(name)
  if (nesting === 0 && file !== undefined) died.push(`${file}: ${howItEnded(details.error)}`)
})
results.on('test:pass', ({ name, skip }) => {
  if (skip !== undefined && skip !== skippableInCi) skipped.push(`${name}: ${skip}`)
})
results.on('test:complete', ({ name, nesting, details }) => {
  const file = bundles.get(name)
  if (nesting !== 0 || file === undefined) return
  const key = dirname(file)
  secondsByFolder.set(key, (secondsByFolder.get(key) ?? 0) + details.duration_ms / 1_000)
})
const printed = results.compose(new spec())
printed.pipe(process.stdout)
await finished(printed, { writable: false })

for (const [name, seconds] of [...secondsByFolder].toSorted(([, a], [, b]) => b - a)) {
  console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`)
}
if (died.length > 0) console.error(`files whose process failed:\n${died.join('\n')}`)
if (process.env['CI'] !== undefined && skipped.length > 0) {
  console.error(`skipped in CI:\n${skipped.join('\n')}`)
  process.exitCode = 1
}

/** Most tests of the warehouse begin with a copy of this folder. */
async function migrateOnce(path: string): Promise<void> {
  try {
    const warehouse = openEmbeddedWarehouse({ path })
    await migrate(warehouse)
    await warehouse.close()
    process.env['TEST_MIGRATED_WAREHOUSE'] = path
  } catch (error) {
    // Without a build for this platform the tests that need one fail, and the others run.
    console.error('no warehouse to copy from:', error)
  }
}

/** The runner keeps the exit code and the signal of a file's process, but prints neither. */
function howItEnded(error: Error): string {
  const signal: unknown = Reflect.get(error, 'signal')
  return typeof signal === 'string' ? signal : `exit code ${String(Reflect.get(error, 'exitCode'))}`
}

function weightOf(file: string): number {
  if (longest.some((name) => file.includes(name))) return 3
  const text = readFileSync(file, 'utf8')
  if (/helpers\/service|child_process/u.test(text)) return 2
  return /warehouse|startAdmin/iu.test(text) ? 1 : 0
}

/** The build writes the page of the dashboard last. What was removed shows in its folder's time. */
function isBuilt(): boolean {
  const builtAtMs = statSync('dist/dashboard/index.html', { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = ['src', 'dashboard', 'proto']
  const names = sources.flatMap((source) =>
    readdirSync(source, { recursive: true, encoding: 'utf8' }).map((name) => join(source, name))
  )
  const rules = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
  return [...sources, ...names, ...rules].every((path) => statSync(path).mtimeMs < builtAtMs)
}

/**
 * Memory instead of a disk, where Linux has enough of it: every insert and every event is synced, and
 * syncing is what most tests would wait for. Which calls sync is tested by their traces.
 */
function fastFolder(): string | null {
  const path = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize > 4 * 1024 ** 3 ? path : null
  } catch {
    // There is none outside of Linux.
    return null
  }
}
