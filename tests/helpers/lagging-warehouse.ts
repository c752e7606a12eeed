// A model of a replica that lags, in one ClickHouse: everything is written into one database, and a second one has the
// same tables as they were when each was fetched last. Tables are fetched at moments that dice choose, in any order: a
// seal may be there before its rows. Each statement that reads is sent to either database by the dice, and an
// `INSERT … SELECT` reads from one and writes to the other. A barrier fetches its tables.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embeddedSessions, openEmbeddedWarehouse } from '../../src/warehouse/embedded.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { warehouseTables } from '../../src/warehouse/warehouse.ts'
import type { Params, Warehouse, WarehouseTable } from '../../src/warehouse/warehouse.ts'
import { readFeeds } from './barrier-watch.ts'
import { seededRandom } from './history.ts'
import { copyMigrated } from './test-warehouse.ts'

export interface LagOptions {
  readonly seed: number
  /** False: a barrier does nothing, as if the steps had none. */
  readonly hasBarriers: boolean
  /** Default: both happen now and then. */
  readonly chances?: Chances
}

interface Chances {
  /** How often a statement reads from the replica. */
  readonly stale: number
  /** How often a table is fetched before a statement. */
  readonly fetch: number
}

export interface LaggingWarehouse {
  /** What a step sees. */
  readonly lagging: Warehouse
  /** Everything that was committed; another node that writes here does not lag. */
  readonly current: Warehouse
  /** How many statements have read from the replica. */
  readonly staleCount: () => number
  /** Brings these tables of the replica up to date. */
  readonly fetch: (tables: readonly WarehouseTable[]) => Promise<void>
}

const nowAndThen: Chances = { stale: 0.6, fetch: 0.15 }

export async function openLaggingWarehouse(
  t: { after(close: () => Promise<void>): void },
  options: LagOptions
): Promise<LaggingWarehouse> {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-lagging-'))
  copyMigrated(path)
  const current = openEmbeddedWarehouse({ path, remembersAnswers: false })
  await migrate(current)
  await current.command('CREATE DATABASE replica')
  for (const table of warehouseTables) {
    await current.command(`CREATE TABLE replica.${table} AS shelftrace.${table}`)
  }
  const replica = openEmbeddedWarehouse({ path, remembersAnswers: false })
  // At once, so that each takes a session of its own.
  await Promise.all(Array.from({ length: embeddedSessions }, () => replica.command('USE replica')))
  t.after(async () => {
    await replica.close()
    await current.close()
    rmSync(path, { recursive: true, force: true })
  })
  const model = new LagModel(current, replica, { ...options, feeds: await readFeeds(current) })
  await model.fetch(warehouseTables)
  return {
    lagging: model.asWarehouse(),
    current: model.asCurrent(),
    staleCount: () => model.staleCount,
    fetch: (tables) => model.fetch(tables),
  }
}

interface ModelOptions extends LagOptions {
  readonly feeds: ReadonlyMap<string, readonly string[]>
}

class LagModel {
  staleCount = 0
  readonly #current: Warehouse
  readonly #replica: Warehouse
  readonly #options: ModelOptions
  readonly #random: () => number
  readonly #chances: Chances
  /** Tables with rows that were not fetched. */
  readonly #behind = new Set<WarehouseTable>(warehouseTables)
  /** The parts of each table and partition, as they were fetched last. */
  readonly #fetched = new Map<string, string>()
  #fetching: Promise<unknown> = Promise.resolve()

  constructor(current: Warehouse, replica: Warehouse, options: ModelOptions) {
    this.#current = current
    this.#replica = replica
    this.#options = options
    this.#random = seededRandom(options.seed)
    this.#chances = options.chances ?? nowAndThen
  }

  asWarehouse(): Warehouse {
    return {
      rows: async (sql, params) => await (await this.#choose()).rows(sql, params),
      stream: (sql, params, signal) => this.#stream({ sql, params, signal }),
      command: (sql, params) => this.#command(sql, params),
      insert: async (table, lines, columns) => {
        await this.#letPass()
        try {
          await this.#current.insert(table, lines, columns)
        } finally {
          this.#noteWrite(table)
        }
      },
      barrier: async (tables) => {
        if (this.#options.hasBarriers) await this.fetch(tables)
      },
      close: () => Promise.resolve(),
    }
  }

  asCurrent(): Warehouse {
    return {
      ...this.#current,
      command: async (sql, params) => {
        await this.#current.command(sql, params)
        this.#noteStatement(sql)
      },
      insert: async (table, lines, columns) => {
        await this.#current.insert(table, lines, columns)
        this.#noteWrite(table)
      },
    }
  }

  /** One after the other, so that two never replace the same partition at once. */
  async fetch(tables: readonly WarehouseTable[]): Promise<void> {
    const fetching = this.#fetching.then(() => this.#fetchNow(tables))
    this.#fetching = fetching.catch(() => undefined)
    await fetching
  }

  async #fetchNow(tables: readonly WarehouseTable[]): Promise<void> {
    const due = tables.filter((table) => this.#behind.has(table))
    if (due.length === 0) return
    for (const table of due) this.#behind.delete(table)
    const found = await this.#current.rows<StoredParts>(partsSql, { tables: due })
    for (const { table, id, parts } of found) {
      const place = `${table} ${id}`
      if (this.#fetched.get(place) === parts) continue
      await this.#current.command(
        `ALTER TABLE replica.${table} REPLACE PARTITION ID '${id}' FROM shelftrace.${table}`
      )
      this.#fetched.set(place, parts)
    }
    const places = new Set(found.map(({ table, id }) => `${table} ${id}`))
    for (const place of this.#fetched.keys()) {
      const [table = '', id = ''] = place.split(' ')
      if (places.has(place) || !due.some((one) => one === table)) continue
      await this.#current.command(`ALTER TABLE replica.${table} DROP PARTITION ID '${id}'`)
      this.#fetched.delete(place)
    }
  }

  async *#stream(asked: Streamed): AsyncGenerator<Buffer> {
    const chosen = await this.#choose()
    yield* chosen.stream(asked.sql, asked.params, asked.signal)
  }

  async #command(sql: string, params: Params = {}): Promise<void> {
    const chosen = await this.#choose()
    try {
      if (chosen === this.#current) await this.#current.command(sql, params)
      else if (/^\s*INSERT INTO/u.test(sql)) {
        await this.#replica.command(sql.replace('INSERT INTO ', 'INSERT INTO shelftrace.'), params)
      } else {
        // The replica that carries out the change looks up what it needs in its own tables.
        await this.#current.command(sql.replaceAll('FROM erasure', 'FROM replica.erasure'), params)
      }
    } finally {
      this.#noteStatement(sql)
    }
  }

  #noteStatement(sql: string): void {
    const [, written] = writePattern.exec(sql) ?? []
    if (written !== undefined) this.#noteWrite(written)
  }

  async #choose(): Promise<Warehouse> {
    await this.#letPass()
    if (this.#random() >= this.#chances.stale) return this.#current
    this.staleCount += 1
    return this.#replica
  }

  /** Time passes before a statement, in which the replica may fetch something. */
  async #letPass(): Promise<void> {
    if (this.#random() >= this.#chances.fetch) return
    const behind = [...this.#behind]
    const table = behind[Math.floor(this.#random() * behind.length)]
    if (table !== undefined) await this.fetch([table])
  }

  #noteWrite(table: string): void {
    const written = new Set(this.#options.feeds.get(table) ?? [table])
    for (const one of warehouseTables) if (written.has(one)) this.#behind.add(one)
  }
}

const writePattern = /(?:INSERT INTO|DELETE FROM|ALTER TABLE|OPTIMIZE TABLE)\s+(\w+)/u

interface Streamed {
  readonly sql: string
  readonly params: Params | undefined
  readonly signal: AbortSignal | undefined
}

interface StoredParts {
  readonly table: WarehouseTable
  readonly id: string
  readonly parts: string
}

const partsSql = `
SELECT table, partition_id AS id, arrayStringConcat(arraySort(groupArray(name)), ',') AS parts
FROM system.parts
WHERE active AND database = 'shelftrace' AND table IN {tables:Array(String)}
GROUP BY table, partition_id
ORDER BY table, partition_id`
