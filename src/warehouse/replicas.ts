// The replicas of a cluster as one process sees them: all its statements go to one of them, so that it reads what it
// has written. If that one fails, the process moves to another, which first fetches everything that was committed.

import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.ts'
import { passingCodes } from './refusal.ts'

export const replicaLimits = {
  /** A replica that failed is not tried again for so long, unless the others failed later still. */
  awayMsMin: 5_000,
  awayMsMax: 60_000,
} as const

/** Codes of a replica that cannot take part at the moment, while another one can. */
const awayCodes: ReadonlySet<unknown> = new Set([
  passingCodes.NO_ZOOKEEPER,
  passingCodes.TABLE_IS_READ_ONLY,
  passingCodes.NO_ACTIVE_REPLICAS,
  passingCodes.ALL_CONNECTION_TRIES_FAILED,
  passingCodes.KEEPER_EXCEPTION,
])

interface ReplicaDeps {
  /** Names of the replicas without credentials, each once. */
  readonly hosts: readonly string[]
  /** Differs between processes, which spread over the replicas by it. */
  readonly nodeId: string
  /** Makes the replica fetch everything that was committed before; rejects if it cannot. */
  readonly catchUp: (replica: number) => Promise<void>
  readonly onMove: (move: { readonly from: string; readonly to: string }) => void
  readonly monotonicMs?: () => number
}

interface Away {
  readonly untilMs: number
  readonly forMs: number
}

export class Replicas {
  readonly #deps: ReplicaDeps
  readonly #monotonicMs: () => number
  /** In the order in which this process prefers them. */
  readonly #ranked: readonly number[]
  readonly #away = new Map<number, Away>()
  #pinned: number
  /** Whether the replica may lack rows that this process or another one knows of. */
  #isBehind = false
  #catchingUp: Promise<void> | null = null

  constructor(deps: ReplicaDeps) {
    this.#deps = deps
    this.#monotonicMs = deps.monotonicMs ?? (() => performance.now())
    this.#ranked = rank(deps.hosts, deps.nodeId)
    this.#pinned = this.#ranked[0] ?? 0
  }

  /** Runs a statement on the replica of this process, never before that one has caught up. */
  async use<Result>(work: (replica: number) => Promise<Result>): Promise<Result> {
    const replica = await this.ready()
    try {
      const result = await work(replica)
      // What was written there may be missing where the process has moved to meanwhile, whatever that one fetched.
      if (replica !== this.#pinned) this.#isBehind = true
      return result
    } catch (error) {
      this.noteFailure(replica, error)
      throw error
    }
  }

  /** The replica of this process, once it has caught up. */
  async ready(): Promise<number> {
    while (this.#isBehind || this.#catchingUp !== null) {
      this.#catchingUp ??= this.#catchUp().finally(() => (this.#catchingUp = null))
      await this.#catchingUp
    }
    return this.#pinned
  }

  /** Makes the next statement wait until the replica has caught up. */
  distrust(): void {
    this.#isBehind = true
  }

  /** Moves away from the replica if the failure is its own. The failed call is its caller's to repeat. */
  noteFailure(replica: number, error: unknown): void {
    if (isOwnFailure(error)) this.leave(replica)
  }

  /** Does nothing if the process is on another one by now. */
  leave(replica: number): void {
    if (replica !== this.#pinned) return
    const { hosts, onMove } = this.#deps
    const nowMs = this.#monotonicMs()
    const { awayMsMin, awayMsMax } = replicaLimits
    const before = this.#away.get(replica)
    // What failed again soon after its return is left alone for longer.
    const isRepeated = before !== undefined && nowMs - before.untilMs < before.forMs
    const forMs = isRepeated ? Math.min(before.forMs * 2, awayMsMax) : awayMsMin
    this.#away.set(replica, { untilMs: nowMs + forMs, forMs })
    const next = this.#choose(nowMs)
    this.#isBehind = true
    if (next === replica) return
    this.#pinned = next
    onMove({ from: hosts[replica] ?? '', to: hosts[next] ?? '' })
  }

  async #catchUp(): Promise<void> {
    const replica = this.#pinned
    // Before it begins, since a statement on a former replica may end meanwhile.
    this.#isBehind = false
    try {
      await this.#deps.catchUp(replica)
    } catch (error) {
      this.#isBehind = true
      this.leave(replica)
      throw error
    }
  }

  /** The best that is not away, or the one that comes back first. */
  #choose(nowMs: number): number {
    const untilMs = (replica: number): number => this.#away.get(replica)?.untilMs ?? 0
    const best = this.#ranked.find((replica) => untilMs(replica) <= nowMs)
    return best ?? this.#ranked.toSorted((one, other) => untilMs(one) - untilMs(other))[0] ?? 0
  }
}

/** Another answer than that of a replica which is well; a call that its reader gave up is none. */
function isOwnFailure(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.code !== 'WAREHOUSE_UNAVAILABLE') return false
  const { clickhouseCode } = error.details
  return clickhouseCode === undefined || awayCodes.has(clickhouseCode)
}

/** Rendezvous hashing: each node has an order of its own, and losing a replica moves only those that were on it. */
function rank(hosts: readonly string[], nodeId: string): readonly number[] {
  const weight = (host: string): string =>
    createHash('sha256').update(`${nodeId} ${host}`).digest('hex')
  const weights = hosts.map(weight)
  return hosts
    .map((_, replica) => replica)
    .toSorted((one, other) => ((weights[one] ?? '') < (weights[other] ?? '') ? 1 : -1))
}
