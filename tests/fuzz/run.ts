// Plays hostile requests against a service in processes of its own, and watches its processes.
import { readFileSync } from 'node:fs'
import { Random } from '../../scripts/demo/random.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import type { Service } from '../helpers/service.ts'
import { buildCall, encodeCall } from './call.ts'
import { layGround, type Ground } from './ground.ts'
import { judgeCall, judgeRawCall } from './judge.ts'
import { buildRawCall, rawKinds } from './raw-call.ts'
import { Wire, type Reply } from './wire.ts'

export interface FuzzOptions {
  readonly requests: number
  /** The number of the first one. */
  readonly from?: number
  readonly seed: number
  /** The number of one request, to make it again; all of them when absent. */
  readonly only?: number
  readonly workers?: number
  readonly onProgress?: (line: string) => void
}

export interface Finding {
  readonly index: number
  readonly what: string
  readonly faults: readonly string[]
  readonly request: string
  readonly answer: string
}

/**
 * Of what a process allocated itself. Single samples tell when garbage was collected, and the young
 * generation of V8 has a small and a large state: levels are medians over a twentieth of the run.
 */
export interface Memory {
  readonly process: string
  /** The highest level of the first half. */
  readonly settledMiB: number
  /** The highest level of the last quarter. */
  readonly endMiB: number
}

export interface FuzzReport {
  readonly requests: number
  readonly seconds: number
  /** How often each status was answered, by operation or kind of raw request. */
  readonly statuses: ReadonlyMap<string, ReadonlyMap<number, number>>
  readonly findings: readonly Finding[]
  /** All the time spent waiting for answers, in milliseconds, by operation or kind of raw request. */
  readonly waitedMs: ReadonlyMap<string, number>
  readonly restarted: readonly string[]
  readonly memory: readonly Memory[]
}

/** Limits per key and per address would soon be all that a run meets. */
export const fuzzEnvironment = {
  SHELFTRACE_TRACKERS: '1',
  SHELFTRACE_TRUST_PROXY: 'true',
  SHELFTRACE_REQUESTS_PER_MINUTE: '1000000',
  SHELFTRACE_TRUSTED_USER_HEADER: 'X-Forwarded-Email',
  SHELFTRACE_TRUSTED_USER_PROXIES: '127.0.0.1',
  SHELFTRACE_LOG_LEVEL: 'warn',
} as const

const limits = {
  answerMsMax: 60_000,
  rawAnswerMsMax: 15_000,
  findingsMax: 50,
  samples: 200,
} as const

/** Raw requests need a connection each; a seventh of all is enough of them. */
const rawShare = 0.15

export async function fuzz(service: Service, options: FuzzOptions): Promise<FuzzReport> {
  const ground = await layGround(service)
  const run = new Run(service, ground, options)
  return await run.play()
}

class Run {
  readonly #service: Service
  readonly #ground: Ground
  readonly #options: FuzzOptions
  readonly #statuses = new Map<string, Map<number, number>>()
  readonly #waitedMs = new Map<string, number>()
  readonly #findings: Finding[] = []
  readonly #processes: ReadonlyMap<string, number>
  readonly #samples = new Map<string, number[]>()
  #next = 0
  #done = 0

  constructor(service: Service, ground: Ground, options: FuzzOptions) {
    this.#service = service
    this.#ground = ground
    this.#options = options
    this.#processes = processesOf(service)
    this.#next = options.from ?? 0
  }

  async play(): Promise<FuzzReport> {
    const startMs = performance.now()
    const { workers = 16, requests, from = 0, only } = this.#options
    if (only !== undefined) await this.#send(only, this.#openWires())
    else await Promise.all(Array.from({ length: workers }, () => this.#work(from + requests)))
    return {
      requests: this.#done,
      seconds: (performance.now() - startMs) / 1_000,
      statuses: this.#statuses,
      findings: this.#findings,
      waitedMs: this.#waitedMs,
      restarted: this.#restarted(),
      memory: [...this.#samples].map(([process, samples]) => summarize(process, samples)),
    }
  }

  async #work(end: number): Promise<void> {
    const wires = this.#openWires()
    while (this.#next < end && this.#findings.length < limits.findingsMax) {
      const index = this.#next
      this.#next += 1
      await this.#send(index, wires)
      this.#done += 1
      this.#watch(this.#options.requests)
    }
    wires.tracking.close()
    wires.campaign.close()
  }

  #openWires() {
    const { ports } = this.#ground
    return { tracking: new Wire(ports.tracking), campaign: new Wire(ports.campaign) }
  }

  async #send(
    index: number,
    wires: Readonly<Record<'tracking' | 'campaign', Wire>>
  ): Promise<void> {
    const random = new Random(
      Math.imul(this.#options.seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)
    )
    const operation = chooseOperation(index, random)
    if (operation === null) return await this.#sendRaw(index, random)
    const call = buildCall(operation, random, this.#ground)
    const bytes = encodeCall(call)
    const listening = {
      repliesMax: 1,
      isHead: call.method === 'HEAD',
      timeoutMs: limits.answerMsMax,
    }
    const wire = wires[call.port]
    const startMs = performance.now()
    let heard = await wire.exchange(bytes, listening)
    // A connection that the server had just let go of: every client sends again on a new one.
    if (heard.fault === 'no-answer') heard = await wire.exchange(bytes, listening)
    this.#count(operation.operationId, heard.replies, startMs)
    const faults = judgeCall(call, heard, this.#ground.secrets)
    this.#note({ index, what: operation.operationId, faults, bytes, answer: heard })
  }

  async #sendRaw(index: number, random: Random): Promise<void> {
    const name = rawKinds[(index - roundsOfAll * operations.length) % rawKinds.length]
    const isOfRounds = index < roundsOfAll * (operations.length + rawKinds.length)
    const call = buildRawCall(random, this.#ground, isOfRounds ? name : undefined)
    const wire = new Wire(this.#ground.ports[call.port])
    const { repliesMax, isEnding } = call
    const listening = { repliesMax, isEnding, isHead: false, timeoutMs: limits.rawAnswerMsMax }
    const startMs = performance.now()
    const heard = await wire.exchange(call.bytes, listening)
    wire.close()
    this.#count(call.name, heard.replies, startMs)
    const faults = judgeRawCall(call, heard, this.#ground.secrets)
    this.#note({ index, what: call.name, faults, bytes: call.bytes, answer: heard })
  }

  #count(what: string, replies: readonly Reply[], startMs: number): void {
    const waitedMs = this.#waitedMs.get(what) ?? 0
    this.#waitedMs.set(what, waitedMs + performance.now() - startMs)
    const counts = this.#statuses.get(what) ?? new Map<number, number>()
    this.#statuses.set(what, counts)
    for (const { status } of replies) counts.set(status, (counts.get(status) ?? 0) + 1)
  }

  #note(found: {
    readonly index: number
    readonly what: string
    readonly faults: readonly string[]
    readonly bytes: readonly Buffer[]
    readonly answer: unknown
  }): void {
    const { index, what, faults, bytes } = found
    if (faults.length === 0 || this.#findings.length >= limits.findingsMax) return
    const request = Buffer.concat(bytes.map((part) => part.subarray(0, 3_000))).toString('latin1')
    const answer = JSON.stringify(found.answer, showBytes)
    this.#options.onProgress?.(`request ${index}, ${what}: ${faults.join('; ')}`)
    this.#findings.push({
      index,
      what,
      faults,
      request: request.slice(0, 3_000),
      answer: answer.slice(0, 1_500),
    })
  }

  #watch(requests: number): void {
    const every = Math.max(1, Math.floor(requests / limits.samples))
    if (this.#done % every !== 0) return
    const parts: string[] = []
    for (const [name, pid] of this.#processes) {
      const bytes = privateBytes(pid)
      const samples = this.#samples.get(name) ?? []
      this.#samples.set(name, samples)
      samples.push(bytes)
      parts.push(`${name} ${mebibytes(bytes)} MiB`)
    }
    this.#options.onProgress?.(
      `${this.#done} requests, ${this.#findings.length} findings, ${parts.join(', ')}`
    )
  }

  #restarted(): readonly string[] {
    const now = processesOf(this.#service)
    return [...this.#processes].filter(([name, pid]) => now.get(name) !== pid).map(([name]) => name)
  }
}

/**
 * The tracking port is open to everybody and answers in a fraction of a millisecond; what writes to the
 * warehouse takes a hundred times as long. An operation that the table gains is sent by itself.
 */
function weightOf({ ports, method, access, body }: Operation): number {
  if (ports.includes('tracking')) return body === null ? 30 : 90
  if (access === null) return 4
  return method === 'get' ? 2 : 1
}

const sendable: readonly Operation[] = operations.flatMap((operation) =>
  Array.from({ length: weightOf(operation) }, () => operation)
)

/** So often each operation and each kind of raw request comes first, so that no seed misses one. */
const roundsOfAll = 5

/** Null: a raw request. */
function chooseOperation(index: number, random: Random): Operation | null {
  if (index < roundsOfAll * operations.length) return operations[index % operations.length] ?? null
  const isOfRounds = index < roundsOfAll * (operations.length + rawKinds.length)
  return isOfRounds || random.chance(rawShare) ? null : random.pick(sendable)
}

function processesOf(service: Service): ReadonlyMap<string, number> {
  return new Map(
    (['engine', 'tracker'] as const).flatMap((program) =>
      service
        .children(program)
        .map((pid, index): [string, number] => [`${program} ${index + 1}`, pid])
    )
  )
}

/** Without the pages of programs and files, which the system may take back. */
function privateBytes(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8')
      .split(' ')
      .map(Number)
    return (resident - shared) * 4_096
  } catch {
    // It ended, which the run reports by itself.
    return 0
  }
}

function summarize(process: string, samples: readonly number[]): Memory {
  const span = Math.max(1, Math.floor(samples.length / 20))
  const highest = (from: number, to: number) =>
    highestLevel(samples.slice(samples.length * from, samples.length * to), span)
  return { process, settledMiB: mebibytes(highest(0, 0.5)), endMiB: mebibytes(highest(0.75, 1)) }
}

function highestLevel(samples: readonly number[], span: number): number {
  const levels = samples
    .slice(0, samples.length - span + 1)
    .map((_, index) => median(samples.slice(index, index + span)))
  return Math.max(0, ...levels)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1_048_576)
}

function showBytes(_name: string, value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && 'data' in value && 'type' in value
  return isBytes && Array.isArray(value.data)
    ? Buffer.from(value.data as number[])
        .toString('latin1')
        .slice(0, 1_000)
    : value
}
