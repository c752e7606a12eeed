import type { Topology } from './topology.ts'

/** A value bound to a `{name:Type}` placeholder, never pasted into the text of a statement. */
export type ParamValue =
  | string
  | number
  | bigint
  | boolean
  | readonly string[]
  | readonly number[]
  | readonly bigint[]

export type Params = Readonly<Record<string, ParamValue>>

/** Tables into which the program inserts rows; identifiers never come from a request. */
export const insertTables = [
  'ad_event_in',
  'delivery_in',
  'purchase_return_in',
  'late_touchpoint_in',
  'delivery_judgement_in',
  'set_aside',
  'set_aside_replay',
  'sealed_day',
  'sealed_span',
  'catalog_entry',
  'product',
  'rate',
  'audit',
] as const

export type InsertTable = (typeof insertTables)[number]

/** Every table that keeps rows, as a barrier names it. Tables that only pass rows on to others keep none. */
export const warehouseTables = [
  'ad_event',
  'ad_event_key_rule',
  'attribution',
  'audit',
  'catalog_entry',
  'delivery',
  'delivery_judgement',
  'delivery_void',
  'erasure',
  'final_before',
  'frozen_purchase',
  'installation',
  'intake_event',
  'intake_set_aside',
  'judgement',
  'judgement_part',
  'late_touchpoint',
  'migration',
  'node_seen',
  'pending_purchase',
  'product',
  'product_day',
  'product_span',
  'purchase',
  'purchase_identity',
  'purchase_return',
  'rate',
  'returned_purchase',
  'rollup_begun',
  'sealed_day',
  'sealed_span',
  'set_aside',
  'set_aside_replay',
  'touched_span',
  'touchpoint',
] as const

export type WarehouseTable = (typeof warehouseTables)[number]

/**
 * The only way to ClickHouse, in process or on a server, with the same SQL. Failures are ServiceErrors:
 * WAREHOUSE_REFUSED if the statement or its data is at fault (`details.clickhouseCode`), WAREHOUSE_UNAVAILABLE if
 * the same call may succeed later. `details.limit` is set if the statement reached a limit.
 */
export interface Warehouse {
  /** Runs a statement without a result; resolves when its effect is durable and visible. */
  command(sql: string, params?: Params): Promise<void>
  /** All rows at once, for small results. 64-bit integers beyond 2^53 must be read as text. */
  rows<Row>(sql: string, params?: Params): Promise<Row[]>
  /**
   * Rows as JSON arrays, one a line, in blocks of whole lines that the reader pulls, in constant memory. Nothing is
   * parsed, because a reader may need a few of many rows: `parseRows` does. Throws if ClickHouse fails in mid-stream,
   * so a stream that ends is complete. Leaving the loop early stops the query.
   */
  stream(sql: string, params?: Params, signal?: AbortSignal): AsyncIterable<Buffer>
  /**
   * Inserts rows given as newline-delimited JSON; resolves when they are synced to disk. With `columns`, whose names
   * never come from a request, a row is an array of their values, which takes less CPU time than an object.
   */
  insert(table: InsertTable, lines: Buffer, columns?: readonly string[]): Promise<void>
  /**
   * Once this resolves, every statement that begins afterwards on this warehouse reads all rows of these tables that
   * any node had committed before the call. Where the warehouse is a set of replicas, one that lags reads less: not
   * the rows that another node wrote, and after a change of replica not even one's own. A step therefore calls this
   * before it reads what was written elsewhere, and reads the clock before that. Rows that are committed during the
   * call may or may not be read. A warehouse that goes over to another replica does the same for all tables first, so
   * what was read once stays readable. On one server nothing is sent.
   */
  barrier(tables: readonly WarehouseTable[]): Promise<void>
  close(): Promise<void>
}

/** The rows of a block of a stream. */
export function parseRows(block: Buffer): unknown[][] {
  return parseLines(block.toString())
}

/** Rows of JSON, one a line. The shape of a row follows from the caller's SQL, so it cannot be checked here. */
export function parseLines<Row>(text: string): Row[] {
  // One text, because parsing each line by itself takes longer. No value holds a line break that is not escaped.
  const lines = text.trimEnd().replaceAll('\n', ',')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(`[${lines}]`) as Row[]
}

/**
 * Ways into one warehouse, each with sessions or connections of its own, so that heavy use of one does not hold up
 * the others: `pipeline` keeps the figures up to date, `lookups` is for what every call depends on (keys, catalog,
 * clock, audit, health), `reports` for what people and their programs read.
 */
export interface WarehouseLanes {
  readonly pipeline: Warehouse
  readonly lookups: Warehouse
  readonly reports: Warehouse
  /** Tells how ClickHouse holds the database, once that is known: until then no statement may write. */
  adopt(topology: Topology): void
  /** Closes all lanes once everything that runs in them has ended. */
  close(): Promise<void>
}

/**
 * Settings that both adapters give to every statement, so that the same SQL means the same thing. Without them,
 * outer joins fill in defaults, time zones follow the machine, and ClickHouse refuses an insert into more than 100
 * partitions (a backfill of two years) or drops one that equals an earlier one.
 */
export const statementSettings = {
  session_timezone: 'UTC',
  join_use_nulls: 1,
  max_partitions_per_insert_block: 0,
  // Both, because each decides for one kind of insert, whatever `insert_deduplicate` says.
  deduplicate_insert: 'disable',
  deduplicate_insert_select: 'disable',
  async_insert: 0,
  // Batches are small: parsing them in parallel costs buffers and gains nothing.
  input_format_parallel_parsing: 0,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
  input_format_skip_unknown_fields: 0,
  input_format_null_as_default: 0,
} as const

/**
 * For the end of a statement that binds identities: a server otherwise writes statements with their values into
 * its `system.query_log`, which no erasure reaches.
 */
export const unlogged = 'SETTINGS log_queries = 0'

/**
 * For statements that group by the key by which their table is sorted: they hold a block of each part, and not a group
 * for each key, so they take little memory however many rows there are.
 */
export const inTableOrder = 'optimize_aggregation_in_order = 1, max_block_size = 4096'

/**
 * Settings that only make statements faster; a server may forbid them. `AS MATERIALIZED` keeps a result that is used
 * more than once; without it ClickHouse computes the result each time and gets the same rows. It calls the setting
 * experimental.
 *
 * The others leave out rewritings that walk through the whole statement and find nothing in ours. Together they took
 * half of the time of its analysis, which is most of a report (docs/decisions/0044).
 */
export const speedSettings = {
  enable_materialized_cte: 1,
  optimize_and_compare_chain: 0,
  optimize_syntax_fuse_functions: 0,
  optimize_aggregators_of_group_by_keys: 0,
  optimize_group_by_function_keys: 0,
  optimize_redundant_functions_in_order_by: 0,
} as const
