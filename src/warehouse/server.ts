// A ClickHouse server over HTTP, with the official client.

import { randomUUID } from 'node:crypto'
import { addAbortSignal, Readable } from 'node:stream'
import { ClickHouseError, createClient, drainStream } from '@clickhouse/client'
import type { ClickHouseClient } from '@clickhouse/client'
import { ServiceError } from '../errors.ts'
import { warehouseFailure } from './refusal.ts'
import { speedSettings, statementSettings } from './warehouse.ts'
import type { Params, Warehouse } from './warehouse.ts'

const serverSettings = {
  ...asText(statementSettings),
  // Some versions would otherwise write a failure in mid-stream as one more row.
  http_write_exception_in_output_format: 0,
} as const

const limits = {
  requestTimeoutMs: 120_000,
  /** No report takes longer. */
  streamSecondsMax: 3_600,
  killTimeoutMs: 5_000,
  connectionsDefault: 16,
} as const

export interface ServerOptions {
  /** `http(s)://user:password@host:8123/database` */
  readonly url: string
  readonly requestTimeoutMs?: number
  /** Default 16. */
  readonly connectionsMax?: number
  /** The `traceparent` of the work under way, which the server goes on with; null if it is not traced. */
  readonly traceparent?: () => string | null
  /** Those of the topology, which is known once a statement was answered. */
  readonly settings?: () => Readonly<Record<string, string>>
}

/** One server, or one replica of a cluster. */
export function openServerWarehouse(options: ServerOptions): Warehouse {
  const requestTimeoutMs = options.requestTimeoutMs ?? limits.requestTimeoutMs
  const client = createClient({
    url: options.url,
    application: 'shelftrace',
    request_timeout: requestTimeoutMs,
    max_open_connections: options.connectionsMax ?? limits.connectionsDefault,
    // Long lists of bound values do not fit into a URL.
    use_multipart_params_auto: true,
    clickhouse_settings: {
      ...serverSettings,
      // The server gives up before the client does. Otherwise a statement that nobody waits for would go on
      // beside its own repetition, and the client would not learn that it was too heavy.
      max_execution_time: Math.max(1, Math.floor((requestTimeoutMs * 0.9) / 1_000)),
    },
    log: { level: 127 },
  })
  const statements = new Statements(client, options)
  return {
    async command(sql, params = {}) {
      await statements.run('statement', (given) =>
        client.command({ query: sql, query_params: params, ...given })
      )
    },
    async rows<Row>(sql: string, params: Params = {}) {
      return await statements.run('query', async (given) => {
        const result = await client.query({
          query: sql,
          query_params: params,
          format: 'JSONEachRow',
          ...given,
        })
        return await result.json<Row>()
      })
    },
    stream: (sql, params = {}, signal) => stream({ client, statements }, { sql, params, signal }),
    async insert(table, lines, columns) {
      if (lines.length === 0) return
      const rows =
        columns === undefined
          ? 'FORMAT JSONEachRow'
          : `(${columns.join(', ')}) FORMAT JSONCompactEachRow`
      await statements.run('insert', async ({ query_id, http_headers }) => {
        // An insert has nothing to speed up.
        // The client's own insert takes JSON only as objects, and would serialize each line again.
        const result = await client.exec({
          query: `INSERT INTO ${table} ${rows}`,
          values: Readable.from([lines], { objectMode: false }),
          query_id,
          http_headers,
          clickhouse_settings: { ...options.settings?.() },
        })
        await drainStream(result.stream)
      })
    },
    // There is one place to write to and to read from. Several are those of server-lanes.ts.
    barrier: () => Promise.resolve(),
    close: () => client.close(),
  }
}

interface Connection {
  readonly client: ClickHouseClient
  readonly statements: Statements
}

interface Streamed {
  readonly sql: string
  readonly params: Params
  readonly signal: AbortSignal | undefined
}

async function* stream(
  { client, statements }: Connection,
  { sql, params, signal }: Streamed
): AsyncGenerator<Buffer> {
  let running: string | null = null
  try {
    signal?.throwIfAborted()
    const result = await statements.run(
      'query',
      ({ query_id, http_headers, clickhouse_settings }) =>
        client.query({
          query: sql,
          query_params: params,
          query_id,
          http_headers,
          format: 'JSONCompactEachRow',
          clickhouse_settings: {
            ...clickhouse_settings,
            max_execution_time: limits.streamSecondsMax,
          },
          ...(signal === undefined ? {} : { abort_signal: signal }),
        })
    )
    running = result.query_id
    const blocks = result.stream<unknown[]>()
    // The client obeys a signal only until the answer begins.
    if (signal !== undefined) addAbortSignal(signal, blocks)
    for await (const rows of blocks) {
      if (rows.length > 0) yield Buffer.from(`${rows.map(({ text }) => text).join('\n')}\n`)
    }
    running = null
  } catch (cause) {
    throw failure('query', cause)
  } finally {
    // The stream broke off, or its reader left.
    if (running !== null) statements.kill(running)
  }
}

interface Given {
  readonly query_id: string
  readonly http_headers: Record<string, string>
  readonly clickhouse_settings: Readonly<Record<string, string>>
}

/** Gives each statement an id, and each of the settings for speed until the server forbids it. */
class Statements {
  readonly #client: ClickHouseClient
  readonly #settings: () => Readonly<Record<string, string>>
  readonly #traceparent: () => string | null
  #speedSettings: Readonly<Record<string, string>> = asText(speedSettings)

  constructor(client: ClickHouseClient, options: ServerOptions) {
    this.#client = client
    this.#settings = options.settings ?? (() => ({}))
    this.#traceparent = options.traceparent ?? (() => null)
  }

  async run<Result>(what: string, work: (given: Given) => Promise<Result>): Promise<Result> {
    const traceparent = this.#traceparent()
    const speed = this.#speedSettings
    const given = {
      query_id: randomUUID(),
      http_headers: traceparent === null ? {} : { traceparent },
      clickhouse_settings: { ...speed, ...this.#settings() },
    }
    try {
      return await work(given)
    } catch (cause) {
      // A server that answered has ended the statement; one that did not may still be running it.
      if (!(cause instanceof ClickHouseError)) {
        this.kill(given.query_id)
        throw failure(what, cause)
      }
      const isForbidden = (name: string) => cause.message.includes(name)
      if (!Object.keys(speed).some(isForbidden)) throw failure(what, cause)
      // Settings are checked first, so the statement has done nothing.
      const allowed = Object.entries(this.#speedSettings).filter(([name]) => !isForbidden(name))
      this.#speedSettings = Object.fromEntries(allowed)
      return await this.run(what, work)
    }
  }

  /**
   * Tries to end a statement that nobody waits for any more. If the connection is gone, the statement ends at its
   * time limit.
   */
  kill(queryId: string): void {
    this.#client
      .command({
        query: 'KILL QUERY WHERE query_id = {queryId:String} ASYNC',
        query_params: { queryId },
        abort_signal: AbortSignal.timeout(limits.killTimeoutMs),
      })
      .catch(() => undefined)
  }
}

/** The client's types want settings as text or switches; the server reads both. */
function asText(settings: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
}

function failure(what: string, cause: unknown): unknown {
  if (cause instanceof ServiceError) return cause
  if (cause instanceof ClickHouseError) return warehouseFailure(what, Number(cause.code), cause)
  return warehouseFailure(what, undefined, cause)
}
