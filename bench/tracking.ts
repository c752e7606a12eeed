// How fast one tracker is beside a bare node:http server, measured in turns in one run:
// `npm run bench -- [--seconds 1] [--rounds 15] [--connections 256] [--reader] [--keyed]`
// With --keyed only conversions with and without a key take turns, on several trackers one after the other: the
// same code costs a few percent more in one process than in the next.
import { execFileSync, fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { trackerEnvironment, trackerOptions } from '../src/processes/child.ts'
import { createKeyRing, formatKeyRing } from '../src/tracking-data/tracking-data.ts'
import type { Usage } from './child.ts'
import type { LoadOrder, LoadResult } from './load.ts'

const kinds = ['conversion', 'impression'] as const
const servers = ['bare', 'tracker'] as const
const processes = ['bare-server', 'tracker-server', 'load', 'reader'] as const
/** The least share of the bare server's rate that the tracker has to reach. */
const targets = { conversion: 0.7, impression: 0.68 } as const
/** The most that a conversion with a key may cost, for each CPU second of one without. */
const keyedCostTarget = 1.05
const keyedTrackers = 6
const rssMbTarget = 150
/** The time the whole run may take; the number of rounds gives way. */
const runMsMax = 170_000

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '15' },
    connections: { type: 'string', default: '256' },
    reader: { type: 'boolean', default: false },
    keyed: { type: 'boolean', default: false },
    'cpu-prof': { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const connections = Number(values.connections)
const root = fileURLToPath(new URL('..', import.meta.url))
const spoolPath = mkdtempSync(join(tmpdir(), 'shelftrace-bench-'))
const keyRing = formatKeyRing(createKeyRing())
let serial = 0

await main()

async function main(): Promise<void> {
  const out = compile()
  console.log(
    `method: ${rounds} rounds of ${seconds} s each in turns, ${connections} connections without ` +
      `pipelining, one process per server, loopback, medians, ratios within a round; seed: serials from 0; node ${process.version}`
  )
  const results = new Map<string, Run[]>()
  const rssMb: number[] = []
  try {
    const startMs = performance.now()
    for (const share of shares()) {
      const usage = await measure(out, { results, ...share, untilMs: startMs + share.untilMs })
      rssMb.push(usage.rssMb)
    }
    report(results, Math.max(...rssMb))
  } finally {
    rmSync(spoolPath, { recursive: true })
  }
}

interface Share {
  readonly roundCount: number
  /** No round begins later, counted from the start of the run. */
  readonly untilMs: number
}

/** What each tracker gets of the whole run. */
function shares(): readonly Share[] {
  const count = values.keyed ? keyedTrackers : 1
  return Array.from({ length: count }, (_, index) => ({
    roundCount: Math.floor((rounds + index) / count),
    untilMs: ((runMsMax - seconds * 10_000) * (index + 1)) / count,
  }))
}

async function measure(
  out: string,
  { results, roundCount, untilMs }: Share & Pick<Round, 'results'>
): Promise<Usage> {
  const children = {
    bare: start(join(out, 'bench/bare-server.js'), []),
    tracker: start(join(out, 'bench/tracker-server.js'), [spoolPath, keyRing], values['cpu-prof']),
    load: start(join(out, 'bench/load.js'), []),
    ...(values.reader ? { reader: start(join(out, 'bench/reader.js'), [spoolPath]) } : {}),
  }
  try {
    const ports = { bare: await portOf(children.bare), tracker: await portOf(children.tracker) }
    // Round 0 warms up, shorter, and is not counted.
    const warmUp = { ports, ms: 1_000, results: new Map() }
    await (values.keyed
      ? runKeyedTurns(children, { ...warmUp, round: 0 })
      : runRound(children, warmUp))
    for (let round = 0; round < roundCount; round += 1) {
      if (performance.now() > untilMs) break
      if (!values.keyed) await runRound(children, { ports, ms: seconds * 1_000, results })
      await runKeyedTurns(children, { ports, ms: seconds * 1_000, results, round })
    }
    return await usageOf(children.tracker)
  } finally {
    for (const child of Object.values(children)) child.disconnect()
    await Promise.all(Object.values(children).map(ended))
  }
}

interface Round {
  readonly ports: Readonly<Record<(typeof servers)[number], number>>
  readonly ms: number
  readonly results: Map<string, Run[]>
}

interface Run extends LoadResult {
  /** CPU time of the server process, all its threads. The one figure that a busy machine does not bend much. */
  readonly cpuMicros: number
  /** Share of the time in which the main thread of the server was not waiting. */
  readonly busyShare: number
}

type Children = Readonly<Record<(typeof servers)[number] | 'load', ChildProcess>>

async function runRound(children: Children, { ports, ms, results }: Round): Promise<void> {
  for (const kind of kinds) {
    for (const server of servers) {
      const before = await usageOf(children[server])
      const result = await load(children.load, { kind, port: ports[server], ms })
      const { cpuMs, busyMs } = await usageOf(children[server])
      const cpuMicros = ((cpuMs - before.cpuMs) * 1_000) / result.requests
      const busyShare = (busyMs - before.busyMs) / ms
      push(results, `${kind} ${server}`, { ...result, cpuMicros, busyShare })
    }
  }
}

/** Conversions with and without a key, either first in every other round. */
async function runKeyedTurns(
  children: Children,
  { ports, ms, results, round }: Round & { readonly round: number }
): Promise<void> {
  const turns = ['conversion', 'keyed-conversion'] as const
  for (const kind of round % 2 === 0 ? turns : turns.toReversed()) {
    const before = await usageOf(children.tracker)
    const result = await load(children.load, { kind, port: ports.tracker, ms })
    const { cpuMs, busyMs } = await usageOf(children.tracker)
    push(results, `turn ${kind}`, {
      ...result,
      cpuMicros: ((cpuMs - before.cpuMs) * 1_000) / result.requests,
      busyShare: (busyMs - before.busyMs) / ms,
    })
  }
}

/** Plain JavaScript, as in production: a TypeScript loader would cost memory and start-up time. */
function compile(): string {
  const out = join(root, 'node_modules/.cache/shelftrace-bench')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noEmit: false, outDir: out, rootDir: root },
    include: [],
    files: processes.map((name) => join(root, `bench/${name}.ts`)),
  }
  writeFileSync(join(out, 'tsconfig.json'), JSON.stringify(config))
  execFileSync('npx', ['tsc', '-p', join(out, 'tsconfig.json')], { cwd: root, stdio: 'inherit' })
  return out
}

function start(path: string, args: readonly string[], isProfiled = false): ChildProcess {
  const execArgv = isProfiled
    ? ['--cpu-prof', `--cpu-prof-dir=${join(tmpdir(), 'shelftrace-prof')}`]
    : []
  // A tracker runs with the options the supervisor gives it.
  const isTracker = path.endsWith('tracker-server.js')
  const own = isTracker ? trackerOptions : []
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    ...(isTracker ? trackerEnvironment(process.env) : {}),
  }
  return fork(path, args, {
    execArgv: [...execArgv, ...own],
    env,
  })
}

async function portOf(child: ChildProcess): Promise<number> {
  const { port } = await messageOf<{ port: number }>(child)
  return port
}

function usageOf(child: ChildProcess): Promise<Usage> {
  child.send('usage')
  return messageOf<Usage>(child)
}

async function load(
  child: ChildProcess,
  target: Pick<LoadOrder, 'kind' | 'port' | 'ms'>
): Promise<LoadResult> {
  const requestsMax = Math.ceil(target.ms * 40)
  const order: LoadOrder = { ...target, connections, keyRing, requestsMax, serialStart: serial }
  serial += requestsMax
  child.send(order)
  return await messageOf<LoadResult>(child)
}

/** Children are ours, and each sends one type of message at a time. */
function messageOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error('a process of the benchmark ended early'))
    child.once('exit', fail)
    child.once('message', (message: T) => {
      child.off('exit', fail)
      resolve(message)
    })
  })
}

function push(results: Map<string, Run[]>, key: string, result: Run): void {
  results.set(key, [...(results.get(key) ?? []), result])
}

function report(results: Round['results'], rssMb: number): void {
  let isMissed = rssMb > rssMbTarget
  for (const kind of values.keyed ? [] : kinds) {
    for (const server of servers) {
      const runs = results.get(`${kind} ${server}`) ?? []
      const rate = median(runs.map((run) => run.perSecond))
      const errors = runs.reduce((sum, run) => sum + run.errors, 0)
      isMissed ||= errors > 0 || runs.some((run) => run.isExhausted)
      console.log(
        `${kind.padEnd(10)} ${server.padEnd(8)} ${rate.toFixed(0).padStart(6)} requests/s` +
          `  p50 ${median(runs.map((run) => run.p50Ms)).toFixed(2)} ms` +
          `  p99 ${median(runs.map((run) => run.p99Ms)).toFixed(2)} ms` +
          `  CPU ${median(runs.map((run) => run.cpuMicros)).toFixed(1)} us/request` +
          `  busy ${(100 * median(runs.map((run) => run.busyShare))).toFixed(0)} %  errors ${errors}`
      )
    }
    const ratio = median(ratiosOf(results, kind))
    isMissed ||= !(ratio >= targets[kind])
    console.log(`${kind.padEnd(10)} ratio    ${ratio.toFixed(2)} (target ${targets[kind]})`)
  }
  isMissed = reportKeyed(results) || isMissed
  console.log(`tracker memory ${rssMb.toFixed(0)} MB (target ${rssMbTarget})`)
  if (isMissed) process.exitCode = 1
}

/** Whether conversions with a key missed their target. */
function reportKeyed(results: Round['results']): boolean {
  const plain = results.get('turn conversion') ?? []
  const keyed = results.get('turn keyed-conversion') ?? []
  const ratio = (of: (run: Run) => number): number =>
    median(keyed.map((run, round) => of(run) / of(plain[round] ?? run)))
  const cost = ratio((run) => run.cpuMicros)
  const rate = ratio((run) => run.perSecond)
  const errors = keyed.reduce((sum, run) => sum + run.errors, 0)
  console.log(
    `keyed conversion  CPU ${cost.toFixed(3)} of a plain one (target ${keyedCostTarget})` +
      `  rate ${rate.toFixed(3)}  errors ${errors}`
  )
  return !(cost <= keyedCostTarget) || errors > 0
}

/** Of turns that follow each other: a machine that others use changes its speed within seconds. */
function ratiosOf(results: Round['results'], kind: string): readonly number[] {
  const bare = results.get(`${kind} bare`) ?? []
  const tracker = results.get(`${kind} tracker`) ?? []
  return tracker.map((run, round) => run.perSecond / (bare[round]?.perSecond ?? NaN))
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
