// Runs the tests with node's own runner: all of them, or those whose path contains a word. It ends files that hang,
// prints how long the longest files and each folder took, and fails in CI if a test was skipped.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
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
import { FileLimit } from './file-limit.ts'
import { libraryFolders } from './release/packages.ts'

/** All that CI may lack. A test that is skipped there for another reason went missing in silence. */
const skippableInCi = 'SHELFTRACE_WAREHOUSE_URL names no ClickHouse server'

/** Two files more than the cores of the smallest machine in use: tests of processes and of browsers often wait. */
const concurrency = 4

/** It tries what the product sent to the warehouses of all others. */
const runsLast = 'warehouse/replicated-statements'

/**
 * Files that take minutes begin first and in this order, lest one of them is left alone at the end. One of those that
 * look at the demo in a browser plays it for the others, so these begin when it has.
 */
const longest = [
  'browser/dashboard',
  'deploy/image',
  'warehouse/lag-model',
  'attribution/attribution',
  'days/late-input',
  'faults/faults',
  'browser/groups',
  'browser/period',
  'browser/readers',
  'browser/daily-use',
  'pipeline/other-nodes',
  'reports/report-figures',
  'erasure/erase.test',
  'docs/guides',
  'reports/paging',
  'days/seal.test',
  'days/retention',
  'pipeline/suspended',
  'campaign/contract-report',
]

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    'test-name-pattern': { type: 'string', multiple: true },
    // The longest file takes two minutes on two quiet cores. A machine that is busy otherwise needs more.
    'file-minutes': { type: 'string', default: '10' },
  },
})
const files = readdirSync('tests', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `tests/${file}`)
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .map((file) => ({ file, weight: weightOf(file) }))
  .toSorted((one, other) => other.weight - one.weight || (one.file < other.file ? -1 : 1))
  .map(({ file }) => file)
const limitMinutes = Number(values['file-minutes'])
if (!(limitMinutes > 0)) {
  console.error('--file-minutes must be a number above 0')
  process.exit(1)
}
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
// Test files inherit these. The loader of TypeScript is not needed, and would cost what bundling saves. Most files end
// before they have filled this memory, so nothing is collected. Collecting took a tenth of their CPU.
const memoryOptions = ['--min-semi-space-size=16', '--max-semi-space-size=32']
process.execArgv.splice(0, Infinity, '--enable-source-maps', ...memoryOptions)

await migrateOnce(join(folder, 'warehouse'))
const recordings = join(folder, 'statements')
mkdirSync(recordings)
process.env['TEST_RECORDED_STATEMENTS'] = recordings
const playedDemos = join(folder, 'demos')
mkdirSync(playedDemos)
process.env['TEST_PLAYED_DEMOS'] = playedDemos
const ports = join(folder, 'ports')
mkdirSync(ports)
process.env['TEST_PORTS'] = ports
if (words.length === 0) process.env['TEST_ALL_FILES'] = '1'

const skipped: string[] = []
const secondsByFile: Seconds[] = []
const overdue = new Set<string>()
const fileLimit = new FileLimit({
  limitMs: limitMinutes * 60_000,
  onOverdue: (path, isEnded) => {
    overdue.add(path)
    console.error(`${bundles.get(path)} runs for more than ${limitMinutes} minutes and is ended`)
    if (isEnded) return
    stopping.abort()
    process.exit(1)
  },
})
/** By file: the tests that were begun and have not ended. */
const unfinished = new Map<string, Set<string>>()
const died: string[] = []
const isLast = (path: string): boolean => bundles.get(path)?.includes(runsLast) === true
await runFiles([...bundles.keys()].filter((path) => !isLast(path)))
await runFiles([...bundles.keys()].filter(isLast))

async function runFiles(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  const results = run({
    files: [...paths],
    concurrency,
    signal: stopping.signal,
    ...(values['test-name-pattern'] !== undefined && {
      testNamePatterns: values['test-name-pattern'],
    }),
  })
  listen(results)
  const printed = results.compose(new spec())
  printed.pipe(process.stdout, { end: false })
  await finished(printed, { writable: false })
}

function listen(results: ReturnType<typeof run>): void {
  results.on('test:dequeue', ({ name, file }) => {
    if (bundles.has(name)) fileLimit.begin(name)
    else if (file !== undefined) unfinished.set(file, (unfinished.get(file) ?? new Set()).add(name))
  })
  results.on('test:fail', ({ name, nesting, details }) => {
    process.exitCode = 1
    const file = bundles.get(name)
    if (nesting !== 0 || file === undefined) return
    died.push(`${file}: ${overdue.has(name) ? howFar(name) : howItEnded(details.error)}`)
  })
  results.on('test:pass', ({ name, skip }) => {
    if (skip !== undefined && skip !== skippableInCi) skipped.push(`${name}: ${skip}`)
  })
  results.on('test:complete', ({ name, nesting, file: path, details }) => {
    fileLimit.complete(name)
    if (path !== undefined) unfinished.get(path)?.delete(name)
    const file = bundles.get(name)
    if (nesting !== 0 || file === undefined) return
    secondsByFile.push([file, details.duration_ms / 1_000])
  })
}

printSeconds('the longest files', longestFirst(secondsByFile).slice(0, 20))
printSeconds('by folder', longestFirst(sumByFolder(secondsByFile)))
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

type Seconds = readonly [name: string, seconds: number]

function sumByFolder(all: readonly Seconds[]): readonly Seconds[] {
  const sums = new Map<string, number>()
  for (const [file, seconds] of all) {
    const name = dirname(file)
    sums.set(name, (sums.get(name) ?? 0) + seconds)
  }
  return [...sums]
}

function longestFirst(all: readonly Seconds[]): readonly Seconds[] {
  return all.toSorted(([, one], [, other]) => other - one)
}

function printSeconds(title: string, all: readonly Seconds[]): void {
  console.log(`${title}:`)
  for (const [name, seconds] of all) console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`)
}

/** What a file that was ended was about when it was. */
function howFar(path: string): string {
  // A runner that reads source maps names the source.
  const [name] = unfinished.get(path) ?? unfinished.get(resolve(bundles.get(path) ?? path)) ?? []
  const where = name === undefined ? 'not in a test' : `in the test “${name}”`
  return `ran for more than ${limitMinutes} minutes, ${where}`
}

function weightOf(file: string): number {
  const place = longest.findIndex((name) => file.includes(name))
  if (place !== -1) return 3 + longest.length - place
  const text = readFileSync(file, 'utf8')
  if (/helpers\/service|child_process|\.\/stage/u.test(text)) return 2
  return /warehouse|startAdmin/iu.test(text) ? 1 : 0
}

/** The build writes the page of the dashboard last. What was removed shows in its folder's time. */
function isBuilt(): boolean {
  const builtAtMs = statSync('dist/dashboard/index.html', { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = ['src', 'dashboard', 'proto']
  const libraries = libraryFolders.flatMap((library) =>
    ['package.json', 'tsconfig.json'].map((name) => join(library, name))
  )
  const names = sources.flatMap((source) =>
    readdirSync(source, { recursive: true, encoding: 'utf8' }).map((name) => join(source, name))
  )
  const rules = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/build.ts',
    'scripts/bundle.ts',
  ]
  return [...sources, ...names, ...rules, ...libraries].every(
    (path) => statSync(path).mtimeMs < builtAtMs
  )
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
