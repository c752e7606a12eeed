// One node of the service with everything around it that can fail: its processes, its warehouse, its
// disk and its clock.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClickHouseStandIn } from '../helpers/clickhouse-stand-in.ts'
import type { StandIn } from '../helpers/clickhouse-stand-in.ts'
import { prepareService } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'

/** `server`: a process of its own that can be away while the node runs. */
export type WarehouseKind = 'embedded' | 'server'

const spoolDiskBytes = 64 * 1024 ** 2
const blockBytes = 262_144
const preloadUrl = new URL('../helpers/shifted-clock.mjs', import.meta.url).href

interface Lifetime {
  after(close: () => Promise<void>): void
}

export class FaultyNode {
  readonly service: Service
  readonly disk: SmallDisk | null
  readonly #clockFile: string
  #warehouse: StandIn | null

  constructor(parts: {
    readonly service: Service
    readonly disk: SmallDisk | null
    readonly clockFile: string
    readonly warehouse: StandIn | null
  }) {
    this.service = parts.service
    this.disk = parts.disk
    this.#clockFile = parts.clockFile
    this.#warehouse = parts.warehouse
  }

  /** Null: the warehouse lives in the engine. */
  get warehouse(): StandIn | null {
    return this.#warehouse
  }

  /** Of the node's processes; the warehouse's goes on as it was. */
  setClock(shiftMs: number): void {
    writeFileSync(this.#clockFile, String(shiftMs))
  }

  /** Starts the warehouse again where it was, after its process was killed. */
  async restartWarehouse(options: { readonly folder: string }): Promise<void> {
    if (this.#warehouse === null) return
    const port = Number(new URL(this.#warehouse.url).port)
    await this.#warehouse.close()
    this.#warehouse = await startClickHouseStandIn({ path: options.folder, port })
  }
}

export interface NodeOptions {
  readonly warehouse: WarehouseKind
}

/** Started, and ended with all that belongs to it, in reverse order, when the test ends. */
export async function startNode(
  t: Lifetime,
  options: NodeOptions
): Promise<{ readonly node: FaultyNode; readonly warehouseFolder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-faults-'))
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  t.after(async () => {
    // What cannot be closed must not keep the rest from being closed.
    const failures: unknown[] = []
    for (const close of closers.toReversed()) {
      await Promise.resolve(close()).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the node could not be closed')
  })
  const dataDir = join(folder, 'data')
  const disk = SmallDisk.mount(join(dataDir, 'spool'))
  closers.push(() => disk?.unmount())
  const warehouseFolder = join(folder, 'warehouse')
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const warehouse =
    options.warehouse === 'server' ? await startClickHouseStandIn({ path: warehouseFolder }) : null
  const parts: { node: FaultyNode | null } = { node: null }
  closers.push(async () => {
    await (parts.node?.warehouse ?? warehouse)?.close()
  })
  const service = await prepareService(
    { after: (close) => void closers.push(close) },
    {
      dataDir,
      env: {
        SHELFTRACE_TRACKERS: '2',
        ...(warehouse === null ? {} : { SHELFTRACE_WAREHOUSE_URL: warehouse.url }),
        NODE_OPTIONS: `--import=${preloadUrl}`,
        TEST_CLOCK_FILE: clockFile,
      },
    }
  )
  const node = new FaultyNode({ service, disk, clockFile, warehouse })
  parts.node = node
  await service.start()
  return { node, warehouseFolder }
}

/** A file system of its own, so that filling it fills nothing else. */
export class SmallDisk {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Null where this user may not mount. */
  static mount(path: string): SmallDisk | null {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const options = `size=${spoolDiskBytes},mode=0700`
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
    return mounted.status === 0 ? new SmallDisk(path) : null
  }

  /** Leaves about so many bytes free, rounded down to whole blocks. */
  fill(options: { readonly freeBytes: number }): void {
    const { bavail, bsize } = statfsSync(this.#path)
    const bytes = bavail * bsize - options.freeBytes
    const ballast = Buffer.alloc(blockBytes)
    try {
      for (let done = 0; done < bytes; done += blockBytes) {
        writeFileSync(this.#ballastPath, ballast, { flag: 'a' })
      }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    }
  }

  free(): void {
    rmSync(this.#ballastPath, { force: true })
  }

  unmount(): void {
    spawnSync('umount', ['--lazy', this.#path])
  }

  get #ballastPath(): string {
    return join(this.#path, 'ballast')
  }
}
