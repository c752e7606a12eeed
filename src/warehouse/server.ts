// A ClickHouse server, cluster or Cloud, over HTTP with the official client.

import { addAbortSignal, Readable } from 'node:stream'
import { ClickHouseError, createClient, drainStream } from '@clickhouse/client'
import type { ClickHouseClient } from '@clickhouse/client'
import { ServiceError } from '../errors.ts'
import { warehouseFailure } from './refusal.ts'
import { speedSettings, statementSettings } from './warehouse.ts'
import type { InsertTable, Params, Warehouse } from './warehouse.ts'

const serverSettings = {
  ...asText(statementSettings),
  // Some versions would write a failure in mid-stream as one more row.
  http_write_exception_in_output_format: 0,
} as const

export interface ServerOptions {
  /** `http(s)://user:password@host:8123/database` */
  readonly url: string
  readonly requestTimeoutMs?: number
}

export function openServerWarehouse(options: ServerOptions): Warehouse {
  const client = createClient({
    url: options.url,
    application: 'shelftrace',
    request_timeout: options.requestTimeoutMs ?? 120_000,
    max_open_connections: 16,
    // Long lists of bound values do not fit into an address.
    use_multipart_params_auto: true,
    clickhouse_settings: serverSettings,
    log: { level: 127 },
  })
  const speed = new Speed()
  return {
    async command(sql, params = {}) {
      await speed.attempt('statement', (clickhouse_settings) =>
        client.command({ query: sql, query_params: params, clickhouse_settings })
      )
    },
    async rows<Row>(sql: string, params: Params = {}) {
      return await speed.attempt('query', async (clickhouse_settings) => {
        const result = await client.query({
          query: sql,
          query_params: params,
          format: 'JSONEachRow',
          clickhouse_settings,
        })
        return await result.json<Row>()
      })
    },
    stream: (sql, params = {}, signal) => stream({ client, speed }, { sql, params, signal }),
    async insert(table: InsertTable, lines: Buffer) {
      if (lines.length === 0) return
      await speed.attempt('insert', async () => {
        // The client's own insert takes JSON as objects only, and would print each line anew.
        const result = await client.exec({
          query: `INSERT INTO ${table} FORMAT JSONEachRow`,
          values: Readable.from([lines], { objectMode: false }),
        })
        await drainStream(result.stream)
      })
    },
    close: () => client.close(),
  }
}

interface Connection {
  readonly client: ClickHouseClient
  readonly speed: Speed
}

interface Streamed {
  readonly sql: string
  readonly params: Params
  readonly signal: AbortSignal | undefined
}

async function* stream(
  { client, speed }: Connection,
  { sql, params, signal }: Streamed
): AsyncGenerator<unknown[][]> {
  try {
    signal?.throwIfAborted()
    const result = await speed.attempt('query', (clickhouse_settings) =>
      client.query({
        query: sql,
        query_params: params,
        format: 'JSONCompactEachRow',
        clickhouse_settings,
        ...(signal === undefined ? {} : { abort_signal: signal }),
      })
    )
    const blocks = result.stream<unknown[]>()
    // The client heeds a signal only until the answer begins.
    if (signal !== undefined) addAbortSignal(signal, blocks)
    for await (const rows of blocks) {
      yield rows.map((row) => row.json())
    }
  } catch (cause) {
    throw failure('query', cause)
  }
}

/** Gives the settings that are for speed alone, until the server forbids one of them. */
class Speed {
  #settings: Readonly<Record<string, string>> = asText(speedSettings)

  async attempt<Result>(
    what: string,
    work: (settings: Readonly<Record<string, string>>) => Promise<Result>
  ): Promise<Result> {
    const settings = this.#settings
    try {
      return await work(settings)
    } catch (cause) {
      const isForbidden =
        cause instanceof ClickHouseError &&
        Object.keys(settings).some((name) => cause.message.includes(name))
      if (!isForbidden) throw failure(what, cause)
      // Settings are looked at first, so nothing of the statement was done.
      this.#settings = {}
      return await this.attempt(what, work)
    }
  }
}

/** The client's types know settings as text or switches; the server reads both alike. */
function asText(settings: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
}

function failure(what: string, cause: unknown): unknown {
  if (cause instanceof ServiceError) return cause
  if (cause instanceof ClickHouseError) return warehouseFailure(what, Number(cause.code), cause)
  return warehouseFailure(what, undefined, cause)
}
