// A ClickHouse server, cluster or Cloud, over HTTP with the official client.

import { addAbortSignal, Readable } from 'node:stream'
import { ClickHouseError, createClient, drainStream } from '@clickhouse/client'
import type { ClickHouseClient } from '@clickhouse/client'
import { ServiceError } from '../errors.ts'
import { warehouseFailure } from './refusal.ts'
import { statementSettings } from './warehouse.ts'
import type { InsertTable, Params, Warehouse } from './warehouse.ts'

// The client's types know settings as text or switches; the server reads both alike.
const serverSettings = {
  ...Object.fromEntries(
    Object.entries(statementSettings).map(([name, value]) => [name, String(value)])
  ),
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
  return {
    async command(sql, params = {}) {
      await attempt('statement', () => client.command({ query: sql, query_params: params }))
    },
    async rows<Row>(sql: string, params: Params = {}) {
      return await attempt('query', async () => {
        const result = await client.query({
          query: sql,
          query_params: params,
          format: 'JSONEachRow',
        })
        return await result.json<Row>()
      })
    },
    stream: (sql, params = {}, signal) => stream(client, sql, params, signal),
    async insert(table: InsertTable, lines: Buffer) {
      if (lines.length === 0) return
      await attempt('insert', async () => {
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

async function* stream(
  client: ClickHouseClient,
  sql: string,
  params: Params,
  signal?: AbortSignal
): AsyncGenerator<unknown[][]> {
  try {
    signal?.throwIfAborted()
    const result = await client.query({
      query: sql,
      query_params: params,
      format: 'JSONCompactEachRow',
      ...(signal === undefined ? {} : { abort_signal: signal }),
    })
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

async function attempt<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw failure(what, cause)
  }
}

function failure(what: string, cause: unknown): unknown {
  if (cause instanceof ServiceError) return cause
  if (cause instanceof ClickHouseError) return warehouseFailure(what, Number(cause.code), cause)
  return warehouseFailure(what, undefined, cause)
}
