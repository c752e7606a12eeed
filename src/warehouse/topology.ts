// How ClickHouse holds the database, which decides how tables are made, which settings statements carry, and what a
// barrier does (docs/decisions/0053-topology-from-the-database.md).

/**
 * `single`: one server, also the one in process. `cluster`: one shard whose replicas all have every row, in a database
 * of the engine Replicated. `cloud`: ClickHouse Cloud, whose nodes share one store.
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

/** How many replicas must have the rows of an insert before it counts. `auto` is the majority. */
export type Quorum = 'auto' | number

/**
 * Settings of every statement beside those that all adapters give. A cluster's inserts end within the time limit of a
 * statement, so that what becomes visible later than sealing expects cannot happen: ClickHouse by itself goes on for ten
 * minutes, also when the client has left. Deletions of rows that nobody reads any more, and definitions, do not wait for
 * replicas that are away.
 *
 * A setting that would make ClickHouse's own reads wait for other replicas exists for Cloud alone: on a cluster it would
 * refuse inserts that run at the same time, so steps call `barrier` there.
 */
export function topologySettings(
  topology: Topology,
  quorum: Quorum
): Readonly<Record<string, string>> {
  switch (topology) {
    case 'single':
      return {}
    case 'cluster':
      return {
        insert_quorum: String(quorum),
        insert_quorum_timeout: '60000',
        insert_keeper_max_retries: '5',
        lightweight_deletes_sync: '1',
        distributed_ddl_output_mode: 'throw_only_active',
      }
    case 'cloud':
      return { select_sequential_consistency: '1' }
  }
}
