// A ClickHouse server, cluster or Cloud, over HTTP with the official client.

import { Readable } from 'node:stream'
import { ClickHouseError, createClient } from '@clickhouse/client'
import type { ClickHouseClient } from '@clickhouse/client'
import { ServiceError } from '../errors.ts'
import { warehouseFailure } from './refusal.ts'
import { statementSettings } from './warehouse.ts'
import type { InsertTable, Params, Warehouse } from './warehouse.ts'

// The client's types know settings as text or switches; the server reads both alike.
const serverSettings = Object.fromEntries(
  Object.entries(statementSettings).map(([name, value]) => [name, String(value)])
)

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
      await attempt('statement', () => client.command({ query: sql, query_params: bind(params) }))
    },
    async rows<Row>(sql: string, params: Params = {}) {
      return await attempt('query', async () => {
        const result = await client.query({
          query: sql,
          query_params: bind(params),
          format: 'JSONEachRow',
        })
        return await result.json<Row>()
      })
    },
    stream: (sql, params = {}, signal) => stream(client, sql, params, signal),
    async insert(table: InsertTable, lines: Buffer) {
      if (lines.length === 0) return
      await attempt('insert', () =>
        client.insert({
          table,
          values: Readable.from([lines], { objectMode: false }),
          format: 'JSONEachRow',
        })
      )
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
    const result = await client.query({
      query: sql,
      query_params: bind(params),
      format: 'JSONCompactEachRow',
      ...(signal === undefined ? {} : { abort_signal: signal }),
    })
    for await (const rows of result.stream<unknown[]>()) {
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

/** The client prints a bigint only as text, which ClickHouse reads as the same number. */
function bind(params: Params): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? String(value) : Array.isArray(value) ? value.map(plain) : value,
    ])
  )
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}
