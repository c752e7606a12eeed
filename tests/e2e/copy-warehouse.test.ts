// An installation outgrows its machine: its warehouse moves from the process into a server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import { eventually, prepareService, type Service } from '../helpers/service.ts'
import { shelftrace, type Ended } from '../helpers/shelftrace.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

async function copy({ dataDir }: Service, url: string): Promise<Ended> {
  return await shelftrace(['warehouse', 'copy'], {
    SHELFTRACE_DATA_DIR: dataDir,
    SHELFTRACE_WAREHOUSE_URL: url,
  })
}

async function catalogAndKeys(service: Service): Promise<string> {
  const answers = await Promise.all([
    service.admin('GET', '/admin/v1/catalog'),
    service.admin('GET', '/admin/v1/keys'),
  ])
  return (await Promise.all(answers.map((answer) => answer.text()))).join('\n')
}

test('a warehouse that is copied into a server has every figure, and what waited in the spool comes after it', async (t) => {
  const standIn = await startClickHouseStandIn()
  t.after(() => standIn.close())
  const service = await prepareService(t)
  await service.start()
  const shoppers = await Shoppers.prepare(service, 2_000)
  shoppers.start(4)
  await eventually('some purchases', () => Promise.resolve(shoppers.acknowledged.purchases > 30))

  const running = await copy(service, standIn.url)
  assert.equal(running.code, 1)
  assert.match(
    running.stderr,
    /warehouse .* cannot be opened: another process has it \(\d+\); end that one first/u
  )

  await shoppers.stop()
  await eventually('all is attributed', async () => {
    return (await readFigures(service)).purchases === shoppers.acknowledged.purchases
  })
  const catalog = await catalogAndKeys(service)
  // Killed, so that the last events may still be in the spool.
  await service.killAll()

  const copied = await copy(service, standIn.url)

  assert.equal(copied.code, 0, copied.stderr)
  assert.match(copied.stdout, /^Copied \d+ tables with [\d,]+ rows; both sides are the same\./u)
  const again = await copy(service, standIn.url)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /holds rows already \(table ad_event\); nothing was copied/u)
  const wrong = new URL(standIn.url)
  wrong.password = 'canary'
  const refused = await copy(service, wrong.href)
  assert.equal(refused.code, 1)
  assert.doesNotMatch(refused.stderr, /canary/u)

  const onServer = await prepareService(t, {
    dataDir: service.dataDir,
    env: { SHELFTRACE_WAREHOUSE_URL: standIn.url },
  })
  await onServer.start()
  await eventually('the figures are those of before', async () => {
    return (await readFigures(onServer)).purchases === shoppers.acknowledged.purchases
  })
  assert.deepEqual(await readFigures(onServer), shoppers.acknowledged)
  assert.equal(await catalogAndKeys(onServer), catalog)
})
