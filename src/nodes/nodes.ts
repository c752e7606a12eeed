// What the nodes of one warehouse know of each other: each writes every few seconds that it is there and how far its
// spool is shipped, and reads what the others wrote. Work is divided by it, and sealing waits by it. All that is
// compared are instants of the warehouse's clock, but for the receipt of events, which every node stamps by its own.

import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { divide, idle, undivided } from '../domain/division.ts'
import type { Division } from '../domain/division.ts'
import { systemClock } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { ensureNodeId } from './node-id.ts'
import type { Spool } from '../spool/spool.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export const nodeLimits = {
  beatPauseMs: 10_000,
  /** Two beats in a row may be lost. */
  livingMs: 30_000,
  /** Without a look for so long, a node does all work itself, and seals nothing new. */
  viewMsMax: 60_000,
  /** So long after its start, a node that could not look yet does all work. */
  firstLookMsMax: 30_000,
  /** Sealing waits so long for a node that fell silent. A machine that died in the night is seen to in the morning. */
  silentMsMax: 21_600_000,
  nodesMax: 1_000,
  /** How often a node that drains looks whether its spool is empty. */
  emptyPauseMs: 100,
} as const

/**
 * `silent`: not seen for 30 seconds, and its spool may hold events. Sealing waits for it. `missing`: silent for so
 * long that sealing does not wait any more.
 */
export type NodeState = 'living' | 'silent' | 'missing'

export interface SeenNode {
  readonly id: string
  readonly name: string
  readonly roles: readonly string[]
  readonly state: NodeState
  readonly isThis: boolean
  readonly seenAtMs: number
  /** Everything that it received before this instant is in the warehouse. */
  readonly shippedThroughMs: number
  /** What its spool held when it was seen. */
  readonly waitingBytes: number
}

export interface NodesDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'command' | 'barrier'>
  readonly node: { readonly id: string; readonly name: string; readonly roles: readonly string[] }
  readonly spool: Pick<Spool, 'depth'>
  readonly clock: Clock
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonicMs: () => number
  /**
   * The warehouse is in this process, so any other node that it lists is from before a restore. That node will not come
   * back, and what its spool held was in the backup. Default false.
   */
  readonly isAlone?: boolean
}

interface OpenDeps extends Pick<NodesDeps, 'warehouse' | 'spool'> {
  readonly config: {
    readonly dataDir: string
    readonly roles: readonly string[]
    readonly warehouseUrls: readonly string[] | null
  }
}

/** The node of this data folder, by the clock of this machine. */
export function openNodes({ config, warehouse, spool }: OpenDeps): Nodes {
  return new Nodes({
    warehouse,
    node: { id: ensureNodeId(config.dataDir), name: hostname(), roles: config.roles },
    spool,
    clock: systemClock,
    monotonicMs: () => performance.now(),
    isAlone: config.warehouseUrls === null,
  })
}

interface View {
  readonly atMs: number
  readonly nodes: readonly SeenNode[]
  readonly division: Division
}

export class Nodes {
  readonly #deps: NodesDeps
  readonly #startedAtMs: number
  #view: View | null = null
  #isLeaving = false
  #hasLeft = false
  #isClosed = false

  constructor(deps: NodesDeps) {
    this.#deps = deps
    this.#startedAtMs = deps.monotonicMs()
  }

  /** Says that this node is there, and looks who else is. */
  async beat(): Promise<void> {
    const { warehouse, node, monotonicMs, isAlone = false } = this.#deps
    const atMs = monotonicMs()
    await this.#tell()
    await warehouse.barrier(['node_seen'])
    const rows = await warehouse.rows<NodeRow>(readSql, { nodesMax: nodeLimits.nodesMax })
    const nodes = rows
      .filter(({ id }) => id === node.id || !isAlone)
      .flatMap((row) => seenNodeOf(row, node.id) ?? [])
    const engines = nodes.filter(
      ({ state, roles }) => state === 'living' && roles.includes('engine')
    )
    this.#view = {
      atMs,
      nodes,
      division: divide(
        node.id,
        engines.map(({ id }) => id)
      ),
    }
  }

  /** Says that nobody has to wait for this node: its spool is empty, and it takes no events any more. */
  async leave(): Promise<void> {
    this.#hasLeft = true
    await this.#tell()
  }

  /** The node is about to end: it asks for no more traffic. */
  announceLeaving(): void {
    this.#isLeaving = true
  }

  get isLeaving(): boolean {
    return this.#isLeaving
  }

  /** Resolves once the spool is empty and the other nodes can know; nothing must come into it any more. */
  async leaveOnceEmpty(): Promise<void> {
    while (!this.#isClosed && !(await this.#leaveIfEmpty())) await sleep(nodeLimits.emptyPauseMs)
  }

  /** A warehouse that is away is asked again. */
  async #leaveIfEmpty(): Promise<boolean> {
    if (this.#deps.spool.depth().oldestAtMs !== null) return false
    try {
      await this.leave()
      return true
    } catch {
      return false
    }
  }

  /**
   * Leaves, unless this node has trackers: they may take events until the end, which are shipped at the next start
   * alone.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#hasLeft || this.#deps.node.roles.includes('tracker')) return
    try {
      await this.leave()
    } catch {
      // Without the row, the others find out within half a minute that this node is gone.
    }
  }

  /** How the engines divide the work, as of the last look. */
  division(): Division {
    const view = this.#freshView()
    if (view !== null) return view.division
    const waitedMs = this.#deps.monotonicMs() - this.#startedAtMs
    return this.#view === null && waitedMs < nodeLimits.firstLookMsMax ? idle : undivided
  }

  /** Everything that other nodes received before this instant is in the warehouse; 0 while that is not known. */
  othersShippedThroughMs(): number {
    const view = this.#freshView()
    if (view === null) return 0
    const awaited = view.nodes.filter(
      ({ isThis, state, roles, waitingBytes }) =>
        !isThis && state !== 'missing' && (roles.includes('tracker') || waitingBytes > 0)
    )
    return Math.min(Infinity, ...awaited.map(({ shippedThroughMs }) => shippedThroughMs))
  }

  /** The last seen first; null while it is not known. */
  list(): readonly SeenNode[] | null {
    return this.#freshView()?.nodes ?? null
  }

  #freshView(): View | null {
    const view = this.#view
    if (view === null) return null
    return this.#deps.monotonicMs() - view.atMs > nodeLimits.viewMsMax ? null : view
  }

  async #tell(): Promise<void> {
    const { warehouse, node, spool, clock } = this.#deps
    // What is received from here on comes after this instant, whenever the row becomes visible.
    const nowMs = clock()
    const { bytes, oldestAtMs } = spool.depth()
    await warehouse.command(tellSql, {
      ...node,
      shippedThroughMs: oldestAtMs ?? nowMs,
      waitingBytes: oldestAtMs === null ? 0 : bytes,
      hasLeft: this.#hasLeft && oldestAtMs === null ? 1 : 0,
    })
  }
}

interface NodeRow {
  readonly id: string
  readonly name: string
  readonly roles: readonly string[]
  readonly ageMs: number
  readonly seenAtMs: number
  readonly shippedThroughMs: number
  readonly waitingBytes: number
  readonly hasLeft: 0 | 1
}

/** Null for a node that nobody has to know of. */
function seenNodeOf(row: NodeRow, ownId: string): SeenNode | null {
  const { ageMs, hasLeft, ...node } = row
  const isThis = node.id === ownId
  const isLiving = isThis || (hasLeft === 0 && ageMs < nodeLimits.livingMs)
  const mayHoldEvents = node.roles.includes('tracker') || node.waitingBytes > 0
  if (!isLiving && (hasLeft === 1 || !mayHoldEvents)) return null
  const absence: NodeState = ageMs < nodeLimits.silentMsMax ? 'silent' : 'missing'
  return { ...node, isThis, state: isLiving ? 'living' : absence }
}

const tellSql = `
INSERT INTO node_seen (node_id, name, roles, seen_at, shipped_through, waiting_bytes, has_left)
SELECT {id:String}, {name:String}, {roles:Array(String)}, now64(6),
  fromUnixTimestamp64Milli({shippedThroughMs:Int64}, 'UTC'), {waitingBytes:UInt64}, {hasLeft:UInt8}`

/** A node that was not seen for a week is of interest to nobody. */
const readSql = `
SELECT node_id AS id, name, roles,
  toUnixTimestamp64Milli(now64(3)) - toUnixTimestamp64Milli(toDateTime64(seen_at, 3, 'UTC')) AS ageMs,
  toUnixTimestamp64Milli(toDateTime64(seen_at, 3, 'UTC')) AS seenAtMs,
  toUnixTimestamp64Milli(shipped_through) AS shippedThroughMs, waiting_bytes AS waitingBytes, has_left AS hasLeft
FROM node_seen FINAL
WHERE seen_at > now64(6) - toIntervalDay(7)
ORDER BY seen_at DESC, node_id
LIMIT {nodesMax:UInt32}`
