// The product's schema with replicated engines, in a stand-in with a Keeper. Its tables are read-only, so definitions
// cannot be altered step by step: they are taken from a twin with ordinary engines, which can.

import { ServiceError } from '../../src/errors.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import { renderDdl } from '../../src/warehouse/topology.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { StandIn } from './clickhouse-stand-in.ts'

const twinDatabase = 'ordinary_twin'

interface Lifetime {
  after(close: () => Promise<void>): void
}

export interface ReplicatedSchemas {
  /** The twin: empty at first, with ordinary engines. */
  readonly twin: Warehouse
  /** A new database without tables. */
  readonly empty: () => Promise<Warehouse>
  /** A new database with tables of the twin, their engines replicated: all, or those that a statement is about. */
  readonly copy: (statement?: string) => Promise<Warehouse>
}

export async function openReplicatedSchemas(
  t: Lifetime,
  standIn: StandIn
): Promise<ReplicatedSchemas> {
  const open = (database: string): Warehouse => {
    const url = new URL(standIn.url)
    url.pathname = database
    const warehouse = openServerWarehouse({ url: url.href })
    t.after(() => warehouse.close())
    return warehouse
  }
  const admin = open('shelftrace')
  await admin.command(`CREATE DATABASE ${twinDatabase}`)
  const twin = open(twinDatabase)
  let count = 0
  const create = async (): Promise<string> => {
    count += 1
    await admin.command(`CREATE DATABASE replicated_${count}`)
    return `replicated_${count}`
  }
  const copy = async (statement?: string): Promise<Warehouse> => {
    const database = await create()
    const all = await definitions(twin)
    const wanted = statement === undefined ? all : all.filter(isWantedBy(statement, all))
    for (const { text } of wanted) {
      const moved = text.replaceAll(`${twinDatabase}.`, `${database}.`)
      await admin.command(renderDdl(moved, 'cluster'))
    }
    return open(database)
  }
  return { twin, empty: async () => open(await create()), copy }
}

interface Definition {
  readonly name: string
  readonly text: string
}

/** Tables first, since views name them. */
async function definitions(twin: Warehouse): Promise<readonly Definition[]> {
  return await twin.rows<Definition>(
    `SELECT name, create_table_query AS text FROM system.tables
     WHERE database = currentDatabase() ORDER BY engine = 'MaterializedView', name`
  )
}

/** A view that the statement names needs its tables. */
function isWantedBy(
  statement: string,
  all: readonly Definition[]
): (definition: Definition) => boolean {
  const named = wordsOf(statement)
  const words = new Set(
    all.flatMap(({ name, text }) => (named.has(name) ? [...wordsOf(text)] : []))
  )
  return ({ name }) => named.has(name) || words.has(name)
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/\w+/gu))
}

/** What a statement about a replicated table that is read-only ends with once it was analysed and found good. */
const acceptedCodes: ReadonlySet<unknown> = new Set([
  236, // ABORTED: a mutation of a table that has no active replica.
  242, // TABLE_IS_READ_ONLY
])

/** Null: the statement is one that replicated tables take. Otherwise the reason why not. */
export async function refusalOf(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (acceptedCodes.has(error.details['clickhouseCode'])) return null
    const { cause } = error
    return cause instanceof Error ? cause.message : error.message
  }
}
