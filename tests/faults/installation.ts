// One installation of the service with everything around it that can fail: its nodes with their
// processes, ports, disks and clocks, and its warehouse.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import type { StandIn } from '../helpers/clickhouse-stand-in.ts'
import { prepareService } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import { SmallDisk } from './small-disk.ts'

/**
 * `embedded`: one node with its warehouse in process. `server`: one node whose warehouse is a process
 * of its own that can be away. `split`: two nodes of trackers and one of engines around such a one.
 */
export const installationKinds = ['embedded', 'server', 'split'] as const
export type InstallationKind = (typeof installationKinds)[number]

/** What many systems give a process, and few enough that callers can hold more connections. */
export const openFilesMax = 1_024

const preloadUrl = new URL('../helpers/shifted-clock.mjs', import.meta.url).href

interface Lifetime {
  after(close: () => Promise<void>): void
}

export interface FaultyNode {
  readonly name: string
  readonly service: Service
  readonly disk: SmallDisk | null
  readonly takesEvents: boolean
  readonly setClock: (shiftMs: number) => void
}

export class Installation {
  readonly nodes: readonly FaultyNode[]
  readonly #warehouseFolder: string
  #warehouse: StandIn | null

  constructor(parts: {
    readonly nodes: readonly FaultyNode[]
    readonly warehouseFolder: string
    readonly warehouse: StandIn | null
  }) {
    this.nodes = parts.nodes
    this.#warehouseFolder = parts.warehouseFolder
    this.#warehouse = parts.warehouse
  }

  /** Where keys are made and reports are read. */
  get engine(): Service {
    const [node] = this.nodes
    if (node === undefined) throw new Error('an installation has a node')
    return node.service
  }

  get trackingNodes(): readonly FaultyNode[] {
    return this.nodes.filter(({ takesEvents }) => takesEvents)
  }

  get trackingUrls(): readonly string[] {
    return this.trackingNodes.map(({ service }) => service.trackingUrl)
  }

  /** Null: the warehouse lives in the engine. */
  get warehouse(): StandIn | null {
    return this.#warehouse
  }

  get stderr(): string {
    return this.nodes
      .map(({ name, service }) => `--- ${name}\n${service.stderr.slice(-20_000)}`)
      .join('\n')
  }

  /** Starts the warehouse again where it was, after its process was killed. */
  async restartWarehouse(): Promise<void> {
    if (this.#warehouse === null) return
    const port = Number(new URL(this.#warehouse.url).port)
    await this.#warehouse.close()
    this.#warehouse = await startClickHouseStandIn({ path: this.#warehouseFolder, port })
  }

  /** As an operator at the warehouse's own console. */
  async runStatement(statement: string): Promise<string> {
    if (this.#warehouse === null) throw new Error('no console reaches a warehouse in process')
    const { origin, pathname, username, password } = new URL(this.#warehouse.url)
    const credentials = `${username}:${decodeURIComponent(password)}`
    const answer = await fetch(`${origin}/?database=${pathname.slice(1)}`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: statement,
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status} ${text}`)
    return text
  }
}

/** Started, and ended with all that belongs to it, in reverse order, when the test ends. */
export async function startInstallation(
  t: Lifetime,
  kind: InstallationKind
): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-faults-'))
  // A killed supervisor's children may still write while they end.
  const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 500 } as const
  const closers: (() => unknown)[] = [() => rmSync(folder, removal)]
  t.after(async () => {
    // What cannot be closed must not keep the rest from being closed.
    const failures: unknown[] = []
    for (const close of closers.toReversed()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'an installation stays open')
  })
  const warehouseFolder = join(folder, 'warehouse')
  const warehouse =
    kind === 'embedded' ? null : await startClickHouseStandIn({ path: warehouseFolder })
  const parts: { installation: Installation | null } = { installation: null }
  closers.push(async () => {
    await (parts.installation?.warehouse ?? warehouse)?.close()
  })
  const nodes: FaultyNode[] = []
  for (const plan of planNodes(kind, folder)) {
    const warehouseEnv = warehouse === null ? {} : { SHELFTRACE_WAREHOUSE_URL: warehouse.url }
    nodes.push(await prepareNode({ ...plan, env: { ...plan.env, ...warehouseEnv } }, closers))
  }
  parts.installation = new Installation({ nodes, warehouseFolder, warehouse })
  // The node of engines first: it makes the secrets that all share.
  for (const { service } of nodes) await service.start()
  return parts.installation
}

interface NodePlan {
  readonly name: string
  readonly folder: string
  readonly takesEvents: boolean
  readonly env: Readonly<Record<string, string>>
}

function planNodes(kind: InstallationKind, folder: string): readonly NodePlan[] {
  if (kind !== 'split') {
    const env = { SHELFTRACE_TRACKERS: '2' }
    return [{ name: 'node', folder: join(folder, 'node'), takesEvents: true, env }]
  }
  const engines = join(folder, 'engines')
  const trackers = ['trackers-1', 'trackers-2'].map((name) => ({
    name,
    folder: join(folder, name),
    takesEvents: true,
    env: {
      SHELFTRACE_ROLES: 'tracker',
      SHELFTRACE_TRACKERS: '2',
      SHELFTRACE_SECRETS_FILE: join(engines, 'data', 'secrets.json'),
    },
  }))
  const env = { SHELFTRACE_ROLES: 'engine' }
  return [{ name: 'engines', folder: engines, takesEvents: false, env }, ...trackers]
}

async function prepareNode(plan: NodePlan, closers: (() => unknown)[]): Promise<FaultyNode> {
  const dataDir = join(plan.folder, 'data')
  const disk = SmallDisk.mount(join(dataDir, 'spool'))
  closers.push(() => disk?.unmount())
  const clockFile = join(plan.folder, 'clock')
  const setClock = (shiftMs: number) => writeFileSync(clockFile, String(shiftMs))
  setClock(0)
  const service = await prepareService(
    { after: (close) => void closers.push(close) },
    {
      dataDir,
      openFilesMax,
      env: {
        ...plan.env,
        NODE_OPTIONS: `--import=${preloadUrl}`,
        TEST_CLOCK_FILE: clockFile,
      },
    }
  )
  return { name: plan.name, service, disk, takesEvents: plan.takesEvents, setClock }
}
