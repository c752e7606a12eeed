// ClickHouse in this process (chDB). A folder belongs to one process. Calls on a session run one after the other,
// so a pool of sessions keeps a long report from holding up the pipeline.

import { createRequire } from 'node:module'
import { availableParallelism, totalmem } from 'node:os'
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ChdbQueryStream, Session, SessionOptions } from 'chdb'
import { ServiceError } from '../errors.ts'
import { makePrivateFolder } from '../lib/make-folder.ts'
import { programFolder } from '../program-folder.ts'
import { refusedFolder } from './refused-folder.ts'
import { warehouseFailure } from './refusal.ts'
import { withoutPauses } from './prompt-mutation.ts'
import {
  insertInto,
  questionOf,
  RememberedAnswers,
  rememberingAll,
  writeOf,
} from './remembered-answers.ts'
import { assertBound, withParams } from './session-params.ts'
import { parseLines, speedSettings, statementSettings } from './warehouse.ts'
import type { Params, Warehouse, WarehouseLanes } from './warehouse.ts'

/**
 * The pipeline runs up to four statements at a time (two batches of attribution, a batch that is shipped, days that are
 * sealed), and sometimes one for an operator. A report may need two at
 * once; `campaign/report-places.ts` lets fewer reports run than there are sessions. Two sessions of the reports are for
 * results that are written on after their first page was answered (`reports/writing-room.ts`).
 */
const laneSessions = { pipeline: 5, lookups: 3, reports: 7 } as const

/** Each busy session holds a thread of libuv's pool, so UV_THREADPOOL_SIZE must be much greater. */
export const embeddedSessions = laneSessions.pipeline + laneSessions.lookups + laneSessions.reports

const require = createRequire(import.meta.url)

export interface EmbeddedOptions {
  readonly path: string
  /** The limits of one statement. Lowered by tests only. */
  readonly statementLimits?: StatementLimits
  /** How often an expression runs before it is compiled. Lowered by tests only. */
  readonly runsBeforeCompiled?: number
  /** False where the folder is also written to by another handle of this process, as only tests do. */
  readonly remembersAnswers?: boolean
}

/**
 * ClickHouse compiles to machine code what has run three times, one expression after the other at 10 to 40 ms of CPU
 * each: 0.3 s for one kind of report, and a sixth of the CPU of a process that lives for a minute. Of the reports of a
 * million events those by day gain up to a tenth from it, the others nothing. So only what runs all the time is
 * compiled: the steps of the pipeline.
 */
const runsBeforeCompiledDefault = 1_000

export interface StatementLimits {
  readonly memoryBytesMax: number
  readonly secondsMax: number
}

/**
 * A statement beyond these fails by itself, instead of taking the process with it or holding a session for
 * ever. Half of the memory leaves room for the rest of the process and for the trackers; no report and no step
 * takes an hour.
 */
function machineLimits(): StatementLimits {
  // 0 where nothing but the machine bounds the process.
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  return { memoryBytesMax: Math.floor(memoryBytes / 2), secondsMax: 3_600 }
}

/** All sessions in one lane, for callers that have the warehouse to themselves. */
export function openEmbeddedWarehouse(options: EmbeddedOptions): Warehouse {
  const pool = new SessionPool(openSessions(options))
  const answers = new RememberedAnswers()
  const { remembersAnswers: remembers = true } = options
  return asWarehouse(pool, { answers, remembers, close: closerOf([pool]) })
}

export function openEmbeddedLanes(options: EmbeddedOptions): WarehouseLanes {
  const sessions = openSessions(options)
  const pipeline = sessions.splice(0, laneSessions.pipeline)
  for (const session of pipeline) session.query(`SET max_threads = ${pipelineThreads()}`)
  const pools = {
    pipeline: new SessionPool(pipeline),
    lookups: new SessionPool(sessions.splice(0, laneSessions.lookups)),
    reports: new SessionPool(sessions.splice(0, laneSessions.reports)),
  }
  const close = closerOf(Object.values(pools))
  const shared = { answers: new RememberedAnswers(), close }
  return {
    // It asks for what has just been written.
    pipeline: asWarehouse(pools.pipeline, { ...shared, remembers: false }),
    lookups: asWarehouse(pools.lookups, { ...shared, remembers: true }),
    reports: asWarehouse(pools.reports, { ...shared, remembers: true }),
    // One process on one machine.
    adopt: () => undefined,
    close,
  }
}

/**
 * Half of the cores for each statement: two batches are attributed at a time, beside one that is shipped. With all
 * cores for each they are not done sooner, and hold a tenth more memory (docs/decisions/0067-memory-in-a-flood.md).
 */
function pipelineThreads(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2))
}

function closerOf(pools: readonly SessionPool[]): () => Promise<void> {
  const purging = startPurging(pools)
  return async () => {
    clearInterval(purging)
    await Promise.all(pools.map((pool) => pool.drain()))
    for (const pool of pools) pool.close()
  }
}

interface Lane {
  /** Of all lanes. */
  readonly answers: RememberedAnswers
  readonly remembers: boolean
  readonly close: () => Promise<void>
}

function asWarehouse(pool: SessionPool, { answers, remembers, close }: Lane): Warehouse {
  const send = (text: string) => pool.use('statement', (session) => session.queryAsync(text))
  return {
    async command(sql, params = {}) {
      const run = () => withoutPauses(sql, () => send(withParams(sql, params)), send)
      await answers.whileWriting(writeOf(sql), run)
    },
    // Whoever asks again and again until something is there must not keep the process from its other work.
    async rows<Row>(sql: string, params: Params = {}) {
      if (!remembers) return parseLines<Row>(await readText(pool, sql, params))
      const question = questionOf('rows', sql, params)
      const [known] = answers.find(question) ?? []
      if (known !== undefined) {
        await letOthersRun()
        return parseLines<Row>(known.toString())
      }
      const remember = answers.begin(question, sql)
      const text = await readText(pool, sql, params)
      remember?.([Buffer.from(text)])
      return parseLines<Row>(text)
    },
    async *stream(sql, params = {}, signal) {
      if (!remembers) return yield* pool.stream(sql, params, signal)
      const question = questionOf('stream', sql, params)
      const known = answers.find(question)
      if (known !== null && signal?.aborted !== true) {
        await letOthersRun()
        return yield* known
      }
      const remember = answers.begin(question, sql)
      const blocks = pool.stream(sql, params, signal)
      return yield* remember === null ? blocks : rememberingAll(blocks, remember)
    },
    async insert(table, lines, columns) {
      if (lines.length === 0) return
      const rows =
        columns === undefined
          ? ({ format: 'JSONEachRow' } as const)
          : ({ format: 'JSONCompactEachRow', columns: [...columns] } as const)
      await answers.whileWriting(insertInto(table), () =>
        pool.use('insert', (session) => session.insert({ table, values: lines, ...rows }))
      )
    },
    // One place to write to and to read from.
    barrier: () => Promise.resolve(),
    close,
  }
}

// ClickHouse's allocator keeps the memory that queries gave back: after a flood of a million events 44 MB were in
// use and 366 MB held. Giving it back this often holds 40 MB less under load than every two seconds. It takes 5 to 10 ms
// of CPU, so it waits until the process has grown.
const purgePauseMs = 500
const purgeGrowthBytes = 16 * 1_048_576

/** Gives unused memory back to the system now and then, if this build of ClickHouse can. */
function startPurging(pools: readonly SessionPool[]): NodeJS.Timeout {
  const countUses = () => pools.reduce((sum, pool) => sum + pool.useCount, 0)
  let usedBefore = countUses()
  let heldBytes = 0
  const purge = async () => {
    const bytes = process.memoryUsage.rss()
    heldBytes = Math.min(heldBytes, bytes)
    if (countUses() === usedBefore || bytes - heldBytes < purgeGrowthBytes) return
    try {
      await pools[0]?.use('statement', (session) => session.queryAsync('SYSTEM JEMALLOC PURGE'))
      usedBefore = countUses()
      heldBytes = process.memoryUsage.rss()
    } catch {
      // A build without this allocator has nothing to give back.
      clearInterval(purging)
    }
  }
  const purging = setInterval(() => void purge(), purgePauseMs)
  return purging.unref()
}

/**
 * By a thread of libuv's pool, with the analysis of the statement, which takes longer than reading. A stream would be
 * begun by the main thread, which would stand still meanwhile, and so would other statements.
 */
async function readText(pool: SessionPool, sql: string, params: Params): Promise<string> {
  return await pool.use('query', async (session) => {
    const result = await session.queryAsync(withParams(sql, params), { format: 'JSONEachRow' })
    return result.text()
  })
}

const mebibyte = 1_048_576

/** ClickHouse's defaults are for a machine that does nothing else. */
const processSettings = {
  // One merge at a time: each holds buffers for every column of every part it reads, and several at once took
  // the process past 800 MB in a flood of a million events.
  background_pool_size: 1,
  background_merges_mutations_concurrency_ratio: 1,
  // Idle threads end, with their stacks and the freed memory they keep. There were up to 140, and eight
  // statements at once on a few cores need a fraction of them.
  max_thread_pool_free_size: 16,
  threadpool_local_fs_reader_pool_size: 8,
  load_marks_threadpool_pool_size: 4,
  // Caches of what is looked up in every part. By default they grow to half of the memory of the machine.
  mark_cache_size: 256 * mebibyte,
  primary_index_cache_size: 256 * mebibyte,
  index_mark_cache_size: 64 * mebibyte,
  query_condition_cache_size: 16 * mebibyte,
  // An insert, a merge and a mutation have their table look for work at once. What finds the pool busy, or nothing to
  // do, looks again after 0.1 s at first, and later after up to 5 s. By default each of 35 tables looks 0.1 to 1.1 s
  // later, for ever, and as often for work that no table of this kind has: 45 ms of CPU a second in a process at rest.
  background_processing_pool_task_sleep_seconds_when_no_work_multiplier: 2,
  background_processing_pool_task_sleep_seconds_when_no_work_random_part: 0.1,
  background_processing_pool_task_sleep_seconds_when_no_work_max: 5,
  background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do: 600,
  // Compares the memory in use with what ClickHouse has counted: 20 times a second by default, at 0.4 ms each.
  memory_worker_period_ms: 1_000,
  // Values stand in the text of a statement that sets them. This is the longest text there can be in Node.
  max_query_size: 512 * mebibyte,
} as const

function openSessions(options: EmbeddedOptions): Session[] {
  const { path, statementLimits = machineLimits() } = options
  const { runsBeforeCompiled = runsBeforeCompiledDefault } = options
  const { Session } = loadChdb()
  const sessions: Session[] = []
  const settings = {
    ...processSettings,
    ...statementSettings,
    ...speedSettings,
    min_count_to_compile_expression: runsBeforeCompiled,
    min_count_to_compile_aggregate_expression: runsBeforeCompiled,
    min_count_to_compile_sort_description: runsBeforeCompiled,
    max_memory_usage: statementLimits.memoryBytesMax,
    max_execution_time: statementLimits.secondsMax,
  }
  const connectionArgs = [
    `--config-file=${fileURLToPath(new URL('warehouse/in-process.xml', programFolder))}`,
    ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
  ]
  try {
    // ClickHouse would make it with whatever the umask allows, and its files are open to all.
    makePrivateFolder(path)
    for (let count = 0; count < embeddedSessions; count += 1) {
      const session: Session = new Session(path, { connectionArgs })
      sessions.push(session)
      if (count === 0) session.query('CREATE DATABASE IF NOT EXISTS shelftrace')
      session.query('USE shelftrace')
    }
  } catch (cause) {
    for (const session of sessions) session.close()
    throw refusedFolder(path, cause)
  }
  return sessions
}

class SessionPool {
  readonly #idle: Session[]
  readonly #all: readonly Session[]
  readonly #waiting: ((session: Session) => void)[] = []
  #running = 0
  useCount = 0
  #drained: (() => void) | null = null

  constructor(sessions: readonly Session[]) {
    this.#all = sessions
    this.#idle = [...sessions]
  }

  async use<Result>(what: string, work: (session: Session) => Promise<Result>): Promise<Result> {
    const session = await this.#take()
    try {
      return await work(session)
    } catch (cause) {
      throw failure(what, cause)
    } finally {
      this.#giveBack(session)
    }
  }

  async *stream(sql: string, params: Params, signal?: AbortSignal): AsyncGenerator<Buffer> {
    let session: Session | null = null
    let stream: ChdbQueryStream | null = null
    try {
      assertBound(sql, params)
      session = await this.#take(signal)
      stream = session.queryStreamBind(sql, params, {
        format: 'JSONCompactEachRow',
        ...(signal === undefined ? {} : { signal }),
      })
      for await (const chunk of stream) {
        if (chunk.numRows > 0) yield asBuffer(chunk.raw())
      }
    } catch (cause) {
      throw failure('query', cause)
    } finally {
      stream?.cancel()
      if (session !== null) this.#giveBack(session)
    }
  }

  /** Resolves when nothing runs or waits. */
  async drain(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#drained = resolve))
  }

  close(): void {
    for (const session of this.#all) session.close()
  }

  /** Rejects with the signal's reason when it aborts before a session is free. */
  async #take(signal?: AbortSignal): Promise<Session> {
    signal?.throwIfAborted()
    this.#running += 1
    this.useCount += 1
    const session = this.#idle.pop()
    if (session !== undefined) return session
    return await new Promise((resolve, reject) => {
      const take = (free: Session): void => {
        signal?.removeEventListener('abort', leave)
        resolve(free)
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1)
        this.#running -= 1
        reject(signal?.reason)
      }
      this.#waiting.push(take)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  #giveBack(session: Session): void {
    this.#running -= 1
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(session)
    else next(session)
    if (this.#running === 0) this.#drained?.()
  }
}

function loadChdb(): { Session: new (path?: string, options?: SessionOptions) => Session } {
  try {
    // Loaded on demand: a node that uses a server needs no native library.
    return require('chdb')
  } catch (cause) {
    throw new ServiceError(
      'CONFIG_INVALID',
      'the in-process warehouse (package chdb) has no build for this platform; ' +
        'set SHELFTRACE_WAREHOUSE_URL to a ClickHouse server',
      { cause }
    )
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

const codePattern = /Code: (\d+)\./u

function failure(what: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof ServiceError) return cause
  const own: unknown = Reflect.get(cause, 'clickhouseCode')
  // Errors of streams have ClickHouse's code only in their text.
  const code =
    typeof own === 'number' ? own : Number(codePattern.exec(cause.message)?.[1] ?? Number.NaN)
  return warehouseFailure(what, Number.isNaN(code) ? undefined : code, cause)
}
