// The engine's side of `npm run bench:drain`: takes one order, tells its usage, and ends.
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { createEventRules } from '../src/catalog/event-rules.ts'
import { emptySnapshot } from '../src/catalog/snapshot.ts'
import { createCallerReader } from '../src/domain/caller.ts'
import { createIdentityHasher } from '../src/domain/identity.ts'
import { systemClock } from '../src/lib/clock.ts'
import { Pipeline } from '../src/pipeline/pipeline.ts'
import type { RowContext } from '../src/pipeline/rows.ts'
import { openFileSpool } from '../src/spool/file-spool.ts'
import { createOpener, parseKeyRing } from '../src/tracking-data/tracking-data.ts'
import { openEmbeddedWarehouse } from '../src/warehouse/embedded.ts'
import { migrate } from '../src/warehouse/migrate.ts'
import type { InsertTable, Warehouse } from '../src/warehouse/warehouse.ts'

export interface DrainOrder {
  readonly spool: string
  readonly warehouse: string
  readonly mode: 'drain' | 'raw'
  readonly events: number
  readonly keyRing: string
}

export interface DrainUsage {
  readonly ms: number
  /** User and system time, by the kind of thread. */
  readonly cpuMsByThread: Readonly<Record<string, number>>
  readonly peakMb: number
}

export interface DrainResult {
  /** In mode `raw`, that of the inserts alone. */
  readonly whole: DrainUsage
  readonly planning: DrainUsage
}

const rawRowsMax = 20_000
/** The kernel counts CPU time in hundredths of a second. */
const tickMs = 10

process.once('message', (order: DrainOrder) => {
  void run(order).then((result) => process.send?.(result, () => process.disconnect()))
})

async function run(order: DrainOrder): Promise<DrainResult> {
  const warehouse = openEmbeddedWarehouse({ path: order.warehouse })
  await migrate(warehouse)
  // This warms up, so that the first batch does not pay for the start of the libraries.
  await warehouse.rows('SELECT count() FROM ad_event')
  const kept = new KeptLines(`${order.warehouse}.lines`)
  const door = order.mode === 'raw' ? kept.insteadOf(warehouse) : warehouse
  const planning = await usageOf(() => drain(order, door))
  const whole = order.mode === 'raw' ? await usageOf(() => kept.insertAll(warehouse)) : planning
  kept.close()
  await warehouse.close()
  return { whole, planning }
}

async function drain(order: DrainOrder, warehouse: Warehouse): Promise<void> {
  const spool = openFileSpool({ path: order.spool, bytesMax: 2 ** 40, clock: systemClock })
  const pipeline = new Pipeline({
    spool,
    warehouse,
    rowContext: rowContext(order.keyRing),
    settleMs: 2_000,
    markets: () => [],
    log: pino({ level: 'error' }),
    attributes: false,
    retentionDays: 400,
    clock: systemClock,
    onJudged: () => Promise.resolve(),
  })
  while (pipeline.counts.shipped < order.events) await sleep(5)
  await pipeline.close()
  if (pipeline.counts.setAside > 0) throw new Error('records were set aside')
  await spool.close()
}

function rowContext(keyRing: string): RowContext {
  const opener = createOpener(parseKeyRing(keyRing))
  return {
    openTrackingData: opener.open,
    openAllTrackingData: opener.openAll,
    hashIdentity: createIdentityHasher(Buffer.alloc(32, 7)),
    deliveryJudge: {
      prepare: () => Promise.resolve(),
      judge: () => ({ verdict: 'valid', keyKind: 'none', keyId: '' }),
    },
    callerOf: createCallerReader(),
    ...createEventRules({ current: () => emptySnapshot, refresh: () => Promise.resolve() }),
  }
}

interface KeptPart {
  readonly table: InsertTable
  readonly columns: readonly string[] | undefined
  readonly at: number
  readonly bytes: number
}

/** Keeps rows in a file, because in memory they would count as the engine's. */
class KeptLines {
  readonly #fd: number
  readonly #parts: KeptPart[] = []
  #bytes = 0

  constructor(path: string) {
    this.#fd = openSync(path, 'w+')
  }

  insteadOf(warehouse: Warehouse): Warehouse {
    return {
      ...warehouse,
      insert: (table, lines, columns) => {
        this.#parts.push({ table, columns, at: this.#bytes, bytes: lines.length })
        this.#bytes += writeSync(this.#fd, lines)
        return Promise.resolve()
      },
    }
  }

  async insertAll(warehouse: Warehouse): Promise<void> {
    for (const table of ['ad_event_in', 'delivery_in'] as const) {
      let waiting: Buffer[] = []
      let rows = 0
      const columns = this.#parts.find((part) => part.table === table)?.columns
      for (const part of this.#parts) {
        if (part.table !== table) continue
        const lines = Buffer.alloc(part.bytes)
        readSync(this.#fd, lines, 0, part.bytes, part.at)
        waiting.push(lines)
        for (const byte of lines) if (byte === 0x0a) rows += 1
        if (rows < rawRowsMax) continue
        await warehouse.insert(table, Buffer.concat(waiting), columns)
        waiting = []
        rows = 0
      }
      await warehouse.insert(table, Buffer.concat(waiting), columns)
    }
  }

  close(): void {
    closeSync(this.#fd)
  }
}

async function usageOf(work: () => Promise<void>): Promise<DrainUsage> {
  // This forgets the peak so far.
  writeFileSync('/proc/self/clear_refs', '5')
  const before = cpuMsByThread()
  const startMs = performance.now()
  await work()
  const ms = performance.now() - startMs
  const peakKb = /VmHWM:\s+(\d+)/u.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return { ms, cpuMsByThread: spent(before, cpuMsByThread()), peakMb: Number(peakKb) / 1_000 }
}

interface ThreadTime {
  readonly name: string
  readonly ms: number
}

function cpuMsByThread(): Map<string, ThreadTime> {
  const { user, system } = process.cpuUsage()
  const times = new Map([['all', { name: 'all', ms: (user + system) / 1_000 }]])
  for (const id of readdirSync('/proc/self/task')) {
    try {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
      // The name may hold blanks and brackets; what follows the last one has none.
      const end = stat.lastIndexOf(')')
      const fields = stat.slice(end + 2).split(' ')
      const ms = (Number(fields[11]) + Number(fields[12])) * tickMs
      const own = stat.slice(stat.indexOf('(') + 1, end)
      times.set(id, { name: id === String(process.pid) ? 'main' : own, ms })
    } catch {
      // The thread has ended meanwhile.
    }
  }
  return times
}

/** Threads that ended meanwhile are in the sum of all alone. */
function spent(
  before: ReadonlyMap<string, ThreadTime>,
  after: ReadonlyMap<string, ThreadTime>
): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [id, { name, ms }] of after) {
    sums[name] = (sums[name] ?? 0) + ms - (before.get(id)?.ms ?? 0)
  }
  return sums
}
