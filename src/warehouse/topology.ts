// How ClickHouse holds the database, which decides how tables are made, which settings statements carry, and what a
// barrier does (docs/decisions/0053-topology-from-the-database.md).

/**
 * `single`: one server, also the one in process. `cluster`: one shard whose replicas all have every row, in a database
 * of ClickHouse's engine Replicated. `cloud`: ClickHouse Cloud, whose nodes share one store.
 */
export type Topology = 'single' | 'cluster' | 'cloud'

/** Engines whose rows are kept. Tables of the engine Null pass rows on, and exist on every replica as they are. */
const keepingEngine = /\bENGINE = ((?:Replacing|Aggregating)?MergeTree)\b/gu

/**
 * The text of a statement that defines tables, for a topology. Replicas exchange rows only between tables of replicated
 * engines; where such a table finds its replicas is the database's to say. Everything else stays: a database of the
 * engine Replicated passes definitions on to all replicas, and Cloud chooses its engines itself.
 */
export function renderDdl(statement: string, topology: Topology): string {
  return topology === 'cluster'
    ? statement.replaceAll(keepingEngine, 'ENGINE = Replicated$1')
    : statement
}
