// ClickHouse's HTTP protocol in front of the in-process engine, for tests only: as much of it as
// @clickhouse/client uses. It runs as a process of its own, since the engine is one folder per
// process, and can be told to fail in the ways a server and the network fail.

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** How requests are treated from now on, `/ping` included. */
export type StandInBehaviour =
  | { readonly kind: 'serve' }
  /** Makes it behave like another server: these texts of a statement are replaced before it is run. */
  | { readonly kind: 'pose'; readonly replaced: Readonly<Record<string, string>> }
  /** Refuses every statement that carries a setting, as one whose operator constrained it. */
  | { readonly kind: 'forbid'; readonly setting: string }
  /** Nobody listens, and open connections are cut. */
  | { readonly kind: 'refuse-connections' }
  /** An answer without a look at the statement; without a code it is one of a proxy. */
  | { readonly kind: 'answer'; readonly status: number; readonly clickhouseCode?: number }
  /** The request is taken and never answered. */
  | { readonly kind: 'hang' }
  /** The connection breaks once so many bytes of the answer are out. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The same, and the connection stays open in silence. */
  | { readonly kind: 'stall'; readonly afterBytes: number }

export interface StandInRequest {
  readonly statement: string
  readonly database: string
  readonly settings: Readonly<Record<string, string>>
  readonly paramNames: readonly string[]
  readonly isMultipart: boolean
}

export interface StandIn {
  /** With credentials, ending in the database `shelftrace`. */
  readonly url: string
  /** The id of its process, for faults that a process can have. */
  readonly pid: number
  readonly behave: (behaviour: StandInBehaviour) => Promise<void>
  /** Settings of every statement from now on, above those of its request, as a profile's bounds are. */
  readonly limit: (settings: Readonly<Record<string, string>>) => Promise<void>
  /** The newest 100 requests that were read and allowed, oldest first. */
  readonly requests: () => Promise<readonly StandInRequest[]>
  /** How many statements were run so far, by how they begin. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>
  readonly close: () => Promise<void>
}

export interface StandInOptions {
  /** The engine's folder, kept at the end; without one a temporary folder that is removed. */
  readonly path?: string
  /** The port of an earlier one, so that its address stays good; a free one when absent. */
  readonly port?: number
  /**
   * With ClickHouse's Keeper for tests, so that tables of replicated engines can be made and statements about them are
   * analysed. The library listens on no port for other replicas, so such tables stay read-only.
   */
  readonly hasKeeper?: boolean
}

export interface StandInCommand {
  readonly id: number
  readonly behaviour?: StandInBehaviour
  readonly limits?: Readonly<Record<string, string>>
}

export interface StandInAnswer {
  readonly id: number
  readonly port: number
  readonly requests: readonly StandInRequest[]
  readonly counts: Readonly<Record<string, number>>
}

/** Characters that must be percent-encoded in an address, so that a lazy client fails. */
export const standInCredentials = { user: 'shelf', password: 'p@ss:w/rd' } as const

const endMsMax = 10_000

/** A database of the engine Replicated gives its tables such a path by itself. */
const keeperConfig = `<clickhouse>
  <zookeeper><implementation>testkeeper</implementation></zookeeper>
  <macros><replica>first</replica></macros>
  <default_replica_path>/clickhouse/tables/{database}/{table}</default_replica_path>
  <default_replica_name>{replica}</default_replica_name>
</clickhouse>
`

const childPath = fileURLToPath(new URL('clickhouse-stand-in.child.ts', import.meta.url))

export async function startClickHouseStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const path = options.path ?? mkdtempSync(join(tmpdir(), 'shelftrace-stand-in-'))
  const { hasKeeper = false } = options
  const configPath = join(path, 'keeper.xml')
  if (hasKeeper) writeFileSync(configPath, keeperConfig)
  const child = fork(childPath, [path, String(options.port ?? 0), hasKeeper ? configPath : ''], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '24' },
  })
  const ask = createAsker(child)
  const { port } = await ask({})
  const { user, password } = standInCredentials
  if (child.pid === undefined) throw new Error('the stand-in did not start')
  return {
    pid: child.pid,
    url: `http://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/shelftrace`,
    behave: async (behaviour) => {
      await ask({ behaviour })
    },
    limit: async (limits) => {
      await ask({ limits })
    },
    requests: async () => (await ask({})).requests,
    counts: async () => (await ask({})).counts,
    close: async () => {
      const hasEnded = child.exitCode !== null || child.signalCode !== null
      const exited = hasEnded ? null : once(child, 'exit')
      // The library does not end while its Keeper runs.
      if (hasKeeper) child.kill('SIGKILL')
      if (child.connected) child.disconnect()
      // ClickHouse in process may wait for minutes for what it had begun.
      const impatience = setTimeout(() => child.kill('SIGKILL'), endMsMax)
      await exited
      clearTimeout(impatience)
      if (options.path === undefined) rmSync(path, { recursive: true, force: true })
    },
  }
}

function createAsker(
  child: ChildProcess
): (command: Omit<StandInCommand, 'id'>) => Promise<StandInAnswer> {
  const waiting = new Map<number, PromiseWithResolvers>()
  let lastId = 0
  child.on('message', (answer: StandInAnswer) => {
    waiting.get(answer.id)?.resolve(answer)
    waiting.delete(answer.id)
  })
  child.once('exit', (code, signal) => {
    const error = new Error(`the stand-in ended with ${code ?? signal}`)
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  })
  return (command) =>
    new Promise((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      if (child.connected) child.send({ ...command, id: lastId } satisfies StandInCommand)
      else reject(new Error('the stand-in has ended'))
    })
}

interface PromiseWithResolvers {
  readonly resolve: (answer: StandInAnswer) => void
  readonly reject: (error: Error) => void
}
