// A statement that takes longer than its caller waits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBeyondLimit, isRefused, warehouseFailure } from '../../src/warehouse/refusal.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import { answer, breakOff, playScript, stayMute } from '../helpers/scripted-server.ts'
import type { ScriptedServer } from '../helpers/scripted-server.ts'

test('a statement ends on the server before its caller gives up, and says that it took too long', async (t) => {
  const standIn = await startClickHouseStandIn()
  t.after(() => standIn.close())
  const warehouse = openServerWarehouse({ url: standIn.url, requestTimeoutMs: 5_000 })
  t.after(() => warehouse.close())

  const slow = warehouse.rows('SELECT sleepEachRow(1) FROM numbers(20) SETTINGS max_block_size = 1')

  await assert.rejects(slow, (error) => {
    assert.ok(isBeyondLimit(error))
    assert.equal(error.details['limit'], 'time')
    assert.equal(error.details['clickhouseCode'], 159)
    return true
  })
})

for (const call of ['rows', 'command', 'insert', 'stream'] as const) {
  test(`a call of ${call} that is given up is ended on the server by its id`, async (t) => {
    const server = await playScript(t, stayMute, answer(200, ''))
    const warehouse = openServerWarehouse({ url: server.url, requestTimeoutMs: 200 })
    t.after(() => warehouse.close())

    const calls = {
      rows: () => warehouse.rows('SELECT 1'),
      command: () => warehouse.command('SELECT 1'),
      insert: () => warehouse.insert('audit', Buffer.from('{}\n')),
      stream: () => readAll(warehouse),
    }
    await assert.rejects(calls[call](), { code: 'WAREHOUSE_UNAVAILABLE' })

    await assertKilled(server)
  })
}

test('a stream that breaks off is ended on the server', async (t) => {
  const begun = breakOff('[1]\n'.repeat(20_000), {}, 'reset')
  const server = await playScript(t, begun, answer(200, ''))
  const warehouse = openServerWarehouse({ url: server.url })
  t.after(() => warehouse.close())

  await assert.rejects(readAll(warehouse))

  await assertKilled(server)
})

test('limits of time and memory are told from a refusal, and from a warehouse that is away', () => {
  const kinds = [159, 160, 241, 202, 210, undefined, 47, 117].map((code) => {
    const failure = warehouseFailure('statement', code, null)
    return [code, isBeyondLimit(failure), isRefused(failure)]
  })

  assert.deepEqual(kinds, [
    [159, true, false],
    [160, true, false],
    [241, true, false],
    [202, false, false],
    [210, false, false],
    [undefined, false, false],
    [47, false, true],
    [117, false, true],
  ])
})

async function readAll(warehouse: Warehouse): Promise<void> {
  for await (const block of warehouse.stream('SELECT 1')) assert.ok(block.length > 0)
}

async function assertKilled(server: ScriptedServer): Promise<void> {
  while (server.received.length < 2) await sleep(10)
  const [first, second] = server.received
  const id = new URL(first?.url ?? '', server.url).searchParams.get('query_id')
  assert.match(id ?? '', /^[0-9a-f-]{36}$/u)
  assert.match(second?.body ?? '', /^KILL QUERY WHERE query_id = /u)
  assert.equal(new URL(second?.url ?? '', server.url).searchParams.get('param_queryId'), id)
}
