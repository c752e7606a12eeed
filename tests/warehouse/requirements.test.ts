import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { ensureFitWarehouse } from '../../src/warehouse/requirements.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import { startClickHouseStandIn, standInCredentials } from '../helpers/clickhouse-stand-in.ts'
import type { StandIn, StandInBehaviour } from '../helpers/clickhouse-stand-in.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

let standIn: StandIn

before(async () => {
  standIn = await startClickHouseStandIn()
})

after(() => standIn.close())

async function ask(t: TestContext, behaviour: StandInBehaviour): Promise<void> {
  t.after(() => standIn.behave({ kind: 'serve' }))
  await standIn.behave(behaviour)
  const warehouse = openServerWarehouse({ url: standIn.url, requestTimeoutMs: 5_000 })
  t.after(() => warehouse.close())
  await ensureFitWarehouse(warehouse)
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
  await ensureFitWarehouse(await openTestWarehouse(t))
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

for (const engine of ['Replicated', 'Shared', 'Ordinary', 'Memory']) {
  test(`a database of the engine ${engine} is refused with the reason`, async (t) => {
    const databases = `(SELECT name, '${engine}' AS engine FROM system.databases)`

    await assert.rejects(ask(t, posing('system.databases', databases)), refusing(engine, 'Atomic'))
  })
}

test('a database that tells nothing of itself is refused', async (t) => {
  const databases = `(SELECT name, engine FROM system.databases WHERE name = 'another')`

  await assert.rejects(ask(t, posing('system.databases', databases)), refusing('unknown', 'Atomic'))
})

test('a replicated table in an ordinary database is refused by its name', async (t) => {
  const tables = `(SELECT 'shelftrace' AS database, arrayJoin(['purchase', 'delivery']) AS name,
    if(name = 'delivery', 'ReplicatedMergeTree', 'MergeTree') AS engine)`

  await assert.rejects(ask(t, posing('system.tables', tables)), refusing('delivery', 'replicas'))
})

test('ClickHouse Cloud is refused by its name', async (t) => {
  const settings = `(SELECT 'cloud_mode' AS name, '1' AS value)`

  await assert.rejects(ask(t, posing('system.settings', settings)), refusing('Cloud', 'replicas'))
})

test('a server that does not take the settings of every statement is refused with its code', async (t) => {
  const unknownSetting = { kind: 'answer', status: 404, clickhouseCode: 115 } as const

  await assert.rejects(ask(t, unknownSetting), refusing('115', '26.7'))
})

test('a server that is away is no unfit one', async (t) => {
  await assert.rejects(ask(t, { kind: 'answer', status: 503 }), { code: 'WAREHOUSE_UNAVAILABLE' })
})
