import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { copyWarehouse } from '../../src/warehouse/copy.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { openServerWarehouse } from '../../src/warehouse/server.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { startClickHouseStandIn, type StandIn } from '../helpers/clickhouse-stand-in.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

let standIn: StandIn

before(async () => {
  standIn = await startClickHouseStandIn()
})
after(() => standIn.close())

let databaseCount = 0

/** A migrated warehouse with a few rows, and an empty one on the server. */
async function prepare(t: TestContext): Promise<{ from: Warehouse; to: Warehouse; url: string }> {
  const from = await openTestWarehouse(t)
  const url = new URL(standIn.url)
  const keeper = openServerWarehouse({ url: url.href })
  databaseCount += 1
  await keeper.command(`CREATE DATABASE copy_${databaseCount}`)
  await keeper.close()
  url.pathname = `/copy_${databaseCount}`
  const to = openServerWarehouse({ url: url.href })
  t.after(() => to.close())
  await migrate(to)
  return { from, to, url: url.href }
}

const awkward = 'a\tb\n"c\' \\ ünïcode 💥 {x:String}'

/** Two in one block would be one at once; two inserts are two until they are merged. */
async function setAside(warehouse: Warehouse): Promise<void> {
  const row = { key: 'k', reason: awkward, record: awkward, publisher_id: 10, rule: '' }
  for (const second of ['01', '02']) {
    const line = { ...row, set_aside_at: `2026-03-01 00:00:${second}.000000` }
    await warehouse.insert('set_aside', Buffer.from(`${JSON.stringify(line)}\n`))
  }
}

test('every table arrives whole: bytes, repeats, and what views would write once more', async (t) => {
  const { from, to, url } = await prepare(t)
  await setAside(from)
  await from.command(
    `INSERT INTO purchase SELECT unhex(leftPad(hex(number), 32, '0')) AS purchase_key,
       (toDateTime64('2026-03-01 00:00:00.123', 3, 'UTC'), unhex(repeat('0a', 16))) AS first,
       [toDate('2026-03-01')] AS days, 10 AS publisher_id FROM numbers(5000)`
  )
  const progress: string[] = []

  const { tables } = await copyWarehouse({
    from,
    to,
    url,
    onProgress: ({ table, doneCount, totalCount }) => {
      assert.ok(doneCount < totalCount)
      progress.push(table)
    },
  })

  const rowCounts = new Map(tables.map(({ name, rowCount }) => [name, rowCount]))
  assert.equal(rowCounts.get('purchase'), 5_000)
  assert.equal(rowCounts.get('set_aside'), 1)
  assert.ok(rowCounts.has('intake_set_aside') && !rowCounts.has('migration'))
  assert.ok(progress.includes('purchase'))
  const sql = 'SELECT key, reason, record, toString(set_aside_at) AS at FROM set_aside FINAL'
  assert.deepEqual(await to.rows(sql), await from.rows(sql))
  // Filled by a view behind set_aside as well, before its own rows came.
  const intake = 'SELECT count() AS count FROM intake_set_aside'
  assert.deepEqual(await to.rows(intake), await from.rows(intake))
})

test('a server that holds rows is left alone', async (t) => {
  const { from, to, url } = await prepare(t)
  const row = { id: '1', writer: 'w', key_id: 'k', key_name: 'n', action: 'a', subject: 's' }
  await to.command(`INSERT INTO audit (id, action) VALUES (generateUUIDv4(), {action:String})`, {
    action: row.action,
  })
  await assert.rejects(copyWarehouse({ from, to, url, onProgress: () => undefined }), {
    code: 'CONFIG_INVALID',
    message: /holds rows already \(table audit\); nothing was copied/u,
  })
})

test('a copy that differs in a single row is not taken for one', async (t) => {
  const { from, to, url } = await prepare(t)
  await setAside(from)
  const lossy: Warehouse = {
    ...to,
    async rows<Row>(sql: string): Promise<Row[]> {
      // As if somebody had written meanwhile.
      if (sql.includes('cityHash64') && sql.includes('FROM set_aside')) {
        await to.command(
          `INSERT INTO set_aside (key, reason, record, set_aside_at) VALUES ('other', '', '', now64(6))`
        )
      }
      return await to.rows<Row>(sql)
    },
  }
  await assert.rejects(copyWarehouse({ from, to: lossy, url, onProgress: () => undefined }), {
    code: 'WAREHOUSE_REFUSED',
    message: /the copy of table set_aside differs: 1 rows here, 2 there/u,
  })
})
