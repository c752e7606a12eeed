import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { ensureFitWarehouse } from '../../src/warehouse/requirements.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import type { Topology } from '../../src/warehouse/topology.ts'
import { startClickHouseStandIn, standInCredentials } from '../helpers/clickhouse-stand-in.ts'
import type { StandIn, StandInBehaviour } from '../helpers/clickhouse-stand-in.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

let standIn: StandIn

before(async () => {
  standIn = await startClickHouseStandIn()
})

after(() => standIn.close())

async function ask(t: TestContext, behaviour: StandInBehaviour, addresses = 1): Promise<Topology> {
  t.after(() => standIn.behave({ kind: 'serve' }))
  await standIn.behave(behaviour)
  const warehouse = openServerWarehouse({ url: standIn.url, requestTimeoutMs: 5_000 })
  t.after(() => warehouse.close())
  return await ensureFitWarehouse({ warehouse, addresses })
}

function posing(text: string, by: string): StandInBehaviour {
  return { kind: 'pose', replaced: { [text]: by } }
}

function refusing(...words: readonly string[]): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'CONFIG_INVALID')
    for (const word of ['SHELFTRACE_WAREHOUSE_URL', ...words]) {
      assert.ok(error.message.includes(word), `${word} is not in: ${error.message}`)
    }
    assert.ok(!error.message.includes(standInCredentials.password))
    return true
  }
}

test('the warehouse in process is fit', async (t) => {
  const warehouse = await openTestWarehouse(t)

  assert.equal(await ensureFitWarehouse({ warehouse, addresses: 1 }), 'single')
})

for (const version of ['26.7.1.1', '26.10.2.5-lts', '27.1.1.1', '100.0.0.0']) {
  test(`a server of version ${version} is fit`, async (t) => {
    await ask(t, posing('version()', `'${version}'`))
  })
}

for (const version of ['26.6.9.9', '26.3.5.12', '25.12.1.1', '9.9', '', 'unknown']) {
  test(`a server of version "${version}" is refused, and the message names the least one`, async (t) => {
    await assert.rejects(ask(t, posing('version()', `'${version}'`)), refusing(version, '26.7'))
  })
}

function databaseOf(engine: string): string {
  return `(SELECT name, '${engine}' AS engine FROM system.databases)`
}

for (const engine of ['Ordinary', 'Memory']) {
  test(`a database of the engine ${engine} is refused with those that fit`, async (t) => {
    await assert.rejects(
      ask(t, posing('system.databases', databaseOf(engine))),
      refusing(engine, 'Atomic', 'Replicated')
    )
  })
}

test('a database that tells nothing of itself is refused', async (t) => {
  const databases = `(SELECT name, engine FROM system.databases WHERE name = 'another')`

  await assert.rejects(ask(t, posing('system.databases', databases)), refusing('unknown', 'Atomic'))
})

const cloudMode = { 'system.settings': `(SELECT 'cloud_mode' AS name, '1' AS value)` }

for (const [what, replaced] of [
  ['of the engine Shared', { 'system.databases': databaseOf('Shared') }],
  [
    'of the engine Replicated in Cloud',
    { 'system.databases': databaseOf('Replicated'), ...cloudMode },
  ],
  ['of the engine Atomic in Cloud', cloudMode],
] as const) {
  test(`a database ${what} is one of ClickHouse Cloud`, async (t) => {
    assert.equal(await ask(t, { kind: 'pose', replaced }), 'cloud')
  })
}

/** A stand-in with a database of the engine Replicated, of so many shards, with tables of these engines. */
function cluster(tables: Readonly<Record<string, string>>, shards = 1): StandInBehaviour {
  const rows = Object.entries(tables).map(([name, engine]) => `('${name}', '${engine}')`)
  return {
    kind: 'pose',
    replaced: {
      'system.databases': databaseOf('Replicated'),
      'system.tables': `(SELECT currentDatabase() AS database, table.1 AS name, table.2 AS engine
        FROM (SELECT arrayJoin(CAST([${rows.join()}], 'Array(Tuple(String, String))')) AS table))`,
      'system.clusters': `(SELECT currentDatabase() AS cluster, number AS shard_num FROM numbers(${shards}))`,
    },
  }
}

const replicatedTables = {
  ad_event: 'ReplicatedReplacingMergeTree',
  ad_event_in: 'Null',
  ad_event_view: 'MaterializedView',
}

test('a database of the engine Replicated is a cluster, by one address or several', async (t) => {
  assert.equal(await ask(t, cluster({})), 'cluster')
  assert.equal(await ask(t, cluster(replicatedTables)), 'cluster')
  assert.equal(await ask(t, cluster(replicatedTables), 3), 'cluster')
})

test('a cluster of several shards is refused with their number', async (t) => {
  await assert.rejects(ask(t, cluster(replicatedTables, 2)), refusing('2 shards'))
})

test('a table in a cluster whose rows stay on one replica is refused by its name', async (t) => {
  const tables = { ...replicatedTables, delivery: 'ReplacingMergeTree' }

  await assert.rejects(ask(t, cluster(tables)), refusing('delivery', 'not replicated'))
})

test('a table of the engine Distributed is refused by its name', async (t) => {
  const tables = { ...replicatedTables, all_events: 'Distributed' }

  await assert.rejects(ask(t, cluster(tables)), refusing('all_events', 'Distributed'))
})

test('a replicated table in a database of the engine Atomic is refused by its name', async (t) => {
  const tables = `(SELECT 'shelftrace' AS database, arrayJoin(['purchase', 'delivery']) AS name,
    if(name = 'delivery', 'ReplicatedMergeTree', 'MergeTree') AS engine)`

  await assert.rejects(ask(t, posing('system.tables', tables)), refusing('delivery', 'Replicated'))
})

test('several addresses of what has one are refused with the reason', async (t) => {
  await assert.rejects(ask(t, { kind: 'serve' }, 2), refusing('several addresses', 'Atomic'))
  await assert.rejects(
    ask(t, { kind: 'pose', replaced: cloudMode }, 2),
    refusing('several addresses', 'Cloud')
  )
})

test('a server that does not take the settings of every statement is refused with its code', async (t) => {
  const unknownSetting = { kind: 'answer', status: 404, clickhouseCode: 115 } as const

  await assert.rejects(ask(t, unknownSetting), refusing('115', '26.7'))
})

test('a server that is away is no unfit one', async (t) => {
  await assert.rejects(ask(t, { kind: 'answer', status: 503 }), { code: 'WAREHOUSE_UNAVAILABLE' })
})
