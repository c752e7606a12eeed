// The connections of a port in one process, bounded in all and per network. What is new comes in, and an idle one
// goes for it; only where none is idle what is new is refused. Node's own bound refuses what is new, and
// between the processes of a cluster such a connection goes round and round.

import { ServerResponse, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf, plainAddress } from './source-address.ts'

export const limits = {
  /** A tenth: one network never keeps the others out. Thousands of shoppers may share an address. */
  networkShare: 10,
  /** A browser opens six. */
  perNetworkMin: 8,
  /** For an idle one, so that a port whose connections are all at work says no as quickly. */
  looksMax: 256,
} as const

interface Connection {
  readonly raw: Socket
  readonly network: string
  /** The socket that requests come by: the raw one, or that of TLS around it. */
  socket: Duplex
  /** Since it was last looked at: such a one gets a second chance. */
  wasUsed: boolean
  /** What had come in, and when, at the last look at which anything was new. */
  seenBytes: number
  seenAtMs: number
}

export interface ConnectionBounds {
  /** 60 KB of memory each at most, the head of a request and buffers of TLS. */
  readonly connectionsMax: number
  /** Null behind a proxy, where all connections come from one address. */
  readonly perNetworkMax: number | null
}

export function boundConnections(connectionsMax: number, isBehindProxy: boolean): ConnectionBounds {
  const share = Math.max(limits.perNetworkMin, Math.floor(connectionsMax / limits.networkShare))
  return { connectionsMax, perNetworkMax: isBehindProxy ? null : share }
}

export class Connections {
  readonly #bounds: ConnectionBounds
  /** In the order in which they get their chances. */
  readonly #all = new Set<Connection>()
  readonly #networks = new Map<string, Set<Connection>>()
  readonly #bySocket = new WeakMap<Duplex, Connection>()
  readonly #byPeer = new Map<string, Connection>()
  readonly #noteDropped: () => void

  /** `noteDropped` is called for each connection that is refused or closed for want of room. */
  constructor(bounds: ConnectionBounds, noteDropped: () => void) {
    this.#bounds = bounds
    this.#noteDropped = noteDropped
  }

  watch(server: Server): void {
    server.on('connection', (raw: Socket) => this.#take(raw))
    server.on('secureConnection', (socket: Socket) => {
      const connection = this.#byPeer.get(peerOf(socket))
      if (connection === undefined) return
      connection.socket = socket
      this.#bySocket.set(socket, connection)
    })
  }

  /** A request came by this connection. */
  use(socket: Duplex): void {
    const connection = this.#bySocket.get(socket)
    if (connection !== undefined) connection.wasUsed = true
  }

  /** Null behind a proxy, and for a connection that has gone. */
  networkOf(socket: Duplex): string | null {
    if (this.#bounds.perNetworkMax === null) return null
    return this.#bySocket.get(socket)?.network ?? null
  }

  /**
   * Closes those by which nothing came for so long while no answer was owed. To be called often. Node can do the
   * same by a timer for each connection, which it sets twice for each request.
   */
  closeIdle({ nowMs, idleMsMax }: { readonly nowMs: number; readonly idleMsMax: number }): void {
    for (const connection of this.#all) {
      const { raw, socket, seenBytes, seenAtMs } = connection
      if (raw.bytesRead !== seenBytes || !isIdle(socket)) {
        connection.seenBytes = raw.bytesRead
        connection.seenAtMs = nowMs
      } else if (nowMs - seenAtMs >= idleMsMax) raw.destroy()
    }
  }

  /** Also connections that never sent a request. */
  closeAll(): void {
    for (const { raw } of this.#all) raw.destroy()
  }

  #take(raw: Socket): void {
    const network = networkOf(plainAddress(raw.remoteAddress ?? ''))
    const peers = this.#networks.get(network) ?? new Set()
    const { connectionsMax, perNetworkMax } = this.#bounds
    const hasRoom =
      (perNetworkMax === null || peers.size < perNetworkMax || this.#dropIdle(peers)) &&
      (this.#all.size < connectionsMax || this.#dropIdle(this.#all))
    if (!hasRoom) {
      this.#noteDropped()
      raw.destroy()
      return
    }
    this.#add({ raw, network, socket: raw, wasUsed: false, seenBytes: -1, seenAtMs: 0 }, peers)
  }

  #add(connection: Connection, peers: Set<Connection>): void {
    const { raw, network } = connection
    const peer = peerOf(raw)
    this.#all.add(connection)
    this.#networks.set(network, peers.add(connection))
    this.#bySocket.set(raw, connection)
    this.#byPeer.set(peer, connection)
    raw.once('close', () => {
      this.#forget(connection)
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer)
    })
  }

  /** Closes the one that has been idle longest, or nearly; false when all are at work. */
  #dropIdle(connections: Set<Connection>): boolean {
    // Each may be passed over twice: for having been used, and for being at work.
    let looksLeft = Math.min(connections.size * 2, limits.looksMax)
    for (const connection of connections) {
      if (looksLeft-- <= 0) return false
      if (!connection.wasUsed && isIdle(connection.socket)) {
        this.#forget(connection)
        connection.raw.destroy()
        this.#noteDropped()
        return true
      }
      connection.wasUsed = false
      connections.delete(connection)
      connections.add(connection)
    }
    return false
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection)
    const peers = this.#networks.get(connection.network)
    peers?.delete(connection)
    if (peers?.size === 0) this.#networks.delete(connection.network)
  }
}

/** Nothing came whole by it that still waits for its answer. A head that is coming in is no request yet. */
function isIdle(socket: Duplex): boolean {
  return owedAnswer(socket) === null
}

/** Whether a request of the connection waits for its answer. Node's own handler of errors asks the same undocumented field. */
export function owedAnswer(socket: Duplex): ServerResponse | null {
  const owed: unknown = Reflect.get(socket, '_httpMessage')
  return owed instanceof ServerResponse ? owed : null
}

/** One address has one connection to a port from each of its own ports. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
