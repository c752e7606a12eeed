// Two nodes with a part each, around one warehouse server.
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startClickHouseStandIn } from './clickhouse-stand-in.ts'
import { prepareService, type Service } from './service.ts'

export interface Nodes {
  readonly warehouse: Awaited<ReturnType<typeof startClickHouseStandIn>>
  readonly engine: Service
  readonly tracker: Service
}

/** Both started; gone when the test ends. */
export async function startNodes(
  t: TestContext,
  { trackers = 2, env = {} }: { trackers?: number; env?: Readonly<Record<string, string>> } = {}
): Promise<Nodes> {
  const warehouse = await startClickHouseStandIn()
  t.after(() => warehouse.close())
  const shared = { SHELFTRACE_WAREHOUSE_URL: warehouse.url, SHELFTRACE_SETTLE_MS: '100' }
  const engine = await prepareService(t, { env: { ...shared, SHELFTRACE_ROLES: 'engine' } })
  await engine.start()
  const tracker = await prepareService(t, {
    env: {
      ...shared,
      ...env,
      SHELFTRACE_ROLES: 'tracker',
      SHELFTRACE_TRACKERS: String(trackers),
      SHELFTRACE_SECRETS_FILE: join(engine.dataDir, 'secrets.json'),
    },
  })
  await tracker.start()
  return { warehouse, engine, tracker }
}
