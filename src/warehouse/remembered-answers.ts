// What statements answered, for as long as nothing is written to the tables they read. Most of what a statement takes is
// the analysis of its text, and most reports ask what was asked before: which days are sealed, which rates there are.
// Only for ClickHouse in this process, where every write is known (docs/decisions/0070).

import { createHash } from 'node:crypto'
import { warehouseTables } from './warehouse.ts'
import type { Params, WarehouseTable } from './warehouse.ts'

export const rememberedLimits = {
  answersMax: 2_000,
  bytesMax: 32 * 1024 ** 2,
  bytesPerAnswerMax: 4 * 1024 ** 2,
} as const

/**
 * Where ClickHouse writes on what is inserted, at once: the targets of materialized views. A test compares this with the
 * schema.
 */
export const alsoWritten: Readonly<Record<string, readonly WarehouseTable[]>> = {
  ad_event_in: ['ad_event', 'intake_event', 'touched_span', 'touchpoint'],
  attribution: ['touched_span'],
  delivery_in: ['delivery', 'pending_purchase', 'purchase', 'purchase_identity'],
  delivery_judgement_in: ['delivery_judgement', 'delivery_void'],
  delivery_void: ['delivery_judgement'],
  late_touchpoint_in: ['late_touchpoint'],
  purchase_return_in: ['purchase_return', 'returned_purchase'],
  set_aside: ['intake_set_aside'],
}

/** Tables from which ClickHouse removes by itself what has become old. A test compares this with the schema. */
export const expiringTables: ReadonlySet<string> = new Set([
  'delivery',
  'node_seen',
  'purchase_return',
  'returned_purchase',
  'rollup_begun',
])

/** What is read from elsewhere than from tables, and differs each time. */
const changesByItself =
  /\b(?:now|now64|today|yesterday|rand\w*|generateUUID\w*|version|uptime)\s*\(|\bsystem\./iu

const tableNames: ReadonlySet<string> = new Set(warehouseTables)

interface Answer {
  readonly tables: readonly string[]
  readonly blocks: readonly Buffer[]
  readonly byteCount: number
}

/** What a statement writes to. */
export interface Write {
  readonly tables: readonly string[]
  /** It may go on in ClickHouse after it has failed, as a mutation does that took too long. */
  readonly mayGoOn: boolean
}

type Remember = (blocks: readonly Buffer[]) => void

export class RememberedAnswers {
  /** By question, the one that was used last at the end. */
  readonly #answers = new Map<string, Answer>()
  #byteCount = 0
  /** How many writes to a table have begun. */
  readonly #begun = new Map<string, number>()
  /** How many of them may still change it. */
  readonly #running = new Map<string, number>()

  /** What the statement would answer now, as `questionOf` names it; null if it has to be sent. */
  find(question: string): readonly Buffer[] | null {
    const answer = this.#answers.get(question)
    if (answer === undefined) return null
    this.#answers.delete(question)
    this.#answers.set(question, answer)
    return answer.blocks
  }

  /**
   * Call this before the statement is sent, and the function that it returns with the whole answer. Null if the answer
   * will not hold.
   */
  begin(question: string, sql: string): Remember | null {
    const tables = tablesReadBy(sql)
    if (tables === null || sumOf(this.#running, tables) > 0) return null
    const begunBefore = sumOf(this.#begun, tables)
    return (blocks) => {
      if (sumOf(this.#begun, tables) === begunBefore) this.#keep(question, tables, blocks)
    }
  }

  /** Forgets what was read from the tables, and remembers nothing of them until the write has ended. */
  async whileWriting<Result>(
    { tables, mayGoOn }: Write,
    work: () => Promise<Result>
  ): Promise<Result> {
    this.#add(this.#begun, tables, 1)
    this.#add(this.#running, tables, 1)
    for (const [question, answer] of this.#answers) {
      if (answer.tables.some((table) => tables.includes(table))) this.#forget(question)
    }
    let isOver = !mayGoOn
    try {
      const result = await work()
      isOver = true
      return result
    } finally {
      if (isOver) this.#add(this.#running, tables, -1)
    }
  }

  #add(counts: Map<string, number>, tables: readonly string[], change: number): void {
    for (const table of tables) counts.set(table, (counts.get(table) ?? 0) + change)
  }

  #keep(question: string, tables: readonly string[], blocks: readonly Buffer[]): void {
    const byteCount = blocks.reduce((sum, block) => sum + block.length, 0)
    const { answersMax, bytesMax, bytesPerAnswerMax } = rememberedLimits
    if (byteCount > bytesPerAnswerMax) return
    this.#forget(question)
    this.#answers.set(question, { tables, blocks, byteCount })
    this.#byteCount += byteCount
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= answersMax && this.#byteCount <= bytesMax) return
      this.#forget(oldest)
    }
  }

  #forget(question: string): void {
    this.#byteCount -= this.#answers.get(question)?.byteCount ?? 0
    this.#answers.delete(question)
  }
}

function sumOf(counts: ReadonlyMap<string, number>, tables: readonly string[]): number {
  return tables.reduce((sum, table) => sum + (counts.get(table) ?? 0), 0)
}

/** Gives the blocks of a stream on, and remembers those of one that is read to its end, unless they are too many. */
export async function* rememberingAll(
  blocks: AsyncIterable<Buffer>,
  remember: Remember
): AsyncGenerator<Buffer> {
  const held: Buffer[] = []
  let byteCount = 0
  for await (const block of blocks) {
    byteCount += block.length
    if (byteCount <= rememberedLimits.bytesPerAnswerMax) held.push(block)
    else held.length = 0
    yield block
  }
  if (byteCount <= rememberedLimits.bytesPerAnswerMax) remember(held)
}

/** Names a statement with its values. Answers of rows and of streams differ in their form. */
export function questionOf(form: 'rows' | 'stream', sql: string, params: Params): string {
  const values = JSON.stringify(params, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value
  )
  return createHash('sha256').update(`${form}\0${sql}\0${values}`).digest('base64url')
}

/** Null if the answer depends on more than tables, or on tables that change by themselves. */
export function tablesReadBy(sql: string): readonly string[] | null {
  if (changesByItself.test(sql)) return null
  // Some are names of columns: then too much is forgotten, which does no harm.
  const tables = [...new Set(sql.match(/\w+/gu))].filter((word) => tableNames.has(word))
  return tables.length === 0 || tables.some((table) => expiringTables.has(table)) ? null : tables
}

const everyTable: Write = { tables: warehouseTables, mayGoOn: true }

const writePattern =
  /^\s*(INSERT INTO|ALTER TABLE|DELETE FROM|OPTIMIZE TABLE|TRUNCATE TABLE) ([a-z_]+)(?![\w.])/u

/** What a statement without a result writes to: every table, if its text does not tell. */
export function writeOf(sql: string): Write {
  const [, verb, table] = writePattern.exec(sql) ?? []
  if (table === undefined) return everyTable
  return { tables: writtenWith(table), mayGoOn: verb !== 'INSERT INTO' }
}

export function insertInto(table: string): Write {
  return { tables: writtenWith(table), mayGoOn: false }
}

function writtenWith(table: string): readonly string[] {
  return [table, ...(alsoWritten[table] ?? [])]
}
