// The lanes to a ClickHouse server or cluster: connections of their own for each lane, and the same replica for all.

import { CatchUp, syncTables } from './replica-sync.ts'
import { Replicas } from './replicas.ts'
import { openServerWarehouse } from './server.ts'
import { topologySettings } from './topology.ts'
import type { Quorum, Topology } from './topology.ts'
import type { Warehouse, WarehouseLanes } from './warehouse.ts'

// Two connections of the reports are for results that are written on after their first page was answered.
const laneConnections = { pipeline: 8, lookups: 4, reports: 12 } as const

export interface ServerLanesOptions {
  /** One server, or replicas of one cluster: `http(s)://user:password@host:8123/database` each. */
  readonly urls: readonly string[]
  readonly quorum: Quorum
  /** See `Replicas`. */
  readonly nodeId: string
  readonly onMove: (move: { readonly from: string; readonly to: string }) => void
  /** As that of `ServerOptions`. */
  readonly traceparent?: () => string | null
}

export function openServerLanes(options: ServerLanesOptions): WarehouseLanes {
  const { urls, quorum, nodeId, onMove } = options
  let topology: Topology | null = null
  const settings = () => (topology === null ? {} : topologySettings(topology, quorum))
  const openLane = (connectionsMax: number): readonly Warehouse[] =>
    urls.map((url) =>
      openServerWarehouse({
        url,
        connectionsMax,
        settings,
        ...(options.traceparent && { traceparent: options.traceparent }),
      })
    )
  const pipeline = openLane(laneConnections.pipeline)
  const lookups = openLane(laneConnections.lookups)
  const reports = openLane(laneConnections.reports)
  const catchUp = new CatchUp()
  const replicas = new Replicas({
    hosts: urls.map((url) => new URL(url).host),
    nodeId,
    onMove,
    catchUp: async (replica) => {
      if (topology === 'cluster') await catchUp.run(pick(lookups, replica))
    },
  })
  const isCluster = (): boolean => topology === 'cluster'
  const close = async (): Promise<void> => {
    await Promise.all([...pipeline, ...lookups, ...reports].map((one) => one.close()))
  }
  const laneOf = (connections: readonly Warehouse[]) =>
    onReplicas({ connections, replicas, isCluster, close })
  return {
    pipeline: laneOf(pipeline),
    lookups: laneOf(lookups),
    reports: laneOf(reports),
    adopt(found) {
      topology = found
      if (found === 'cluster') replicas.distrust()
    },
    close,
  }
}

interface Lane {
  /** One for each replica. */
  readonly connections: readonly Warehouse[]
  readonly replicas: Replicas
  readonly isCluster: () => boolean
  readonly close: () => Promise<void>
}

function onReplicas({ connections, replicas, isCluster, close }: Lane): Warehouse {
  const use = <Result>(work: (warehouse: Warehouse) => Promise<Result>): Promise<Result> =>
    replicas.use((replica) => work(pick(connections, replica)))
  return {
    command: (sql, params) => use((warehouse) => warehouse.command(sql, params)),
    rows: <Row>(sql: string, params = {}) => use((warehouse) => warehouse.rows<Row>(sql, params)),
    async *stream(sql, params, signal) {
      const replica = await replicas.ready()
      try {
        yield* pick(connections, replica).stream(sql, params, signal)
      } catch (error) {
        // Who leaves a stream says nothing about the replica.
        if (signal?.aborted !== true) replicas.noteFailure(replica, error)
        throw error
      }
    },
    insert: (table, lines, columns) => use((warehouse) => warehouse.insert(table, lines, columns)),
    async barrier(tables) {
      if (!isCluster()) return
      // If the process moves after this, the other replica catches up before any statement.
      const replica = await replicas.ready()
      try {
        await syncTables(pick(connections, replica), tables)
      } catch (error) {
        replicas.leave(replica)
        throw error
      }
    },
    close,
  }
}

function pick(connections: readonly Warehouse[], replica: number): Warehouse {
  const connection = connections[replica]
  if (connection === undefined) throw new Error(`there is no replica ${replica}`)
  return connection
}
