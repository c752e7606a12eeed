// The model-based law of the spool contract, and the builders that the contract shares with it.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Clock } from '../../src/lib/clock.ts'
import type { AdEventRecord, SpoolRecord } from '../../src/spool/record.ts'
import type { Spool, SpoolBatch } from '../../src/spool/spool.ts'
import { entriesOf } from '../helpers/spooled.ts'

/** One storage that outlives the spools opened on it, one after the other. */
export interface SpoolStorage {
  readonly open: (options?: SpoolTestOptions) => Spool
  /** Writes a frame behind the back of the spool; only while none is open. */
  readonly plant: (key: string, frame: Buffer) => Promise<void>
  readonly dispose: () => Promise<void>
}

interface SpoolTestOptions {
  readonly clock?: Clock
  readonly bytesMax?: number
  readonly inFlightBytesMax?: number
}

export const startMs = Date.UTC(2026, 2, 2, 10)

/** The model is a plain list in the order of the instants; ties keep the order of appending. */
interface Model {
  readonly kept: string[]
  readonly handed: string[]
}

interface World {
  spool: Spool
  nowMs: number
  batch: SpoolBatch
}

export async function agreesWithModel(storage: SpoolStorage): Promise<void> {
  let runCount = 0
  let serial = 0
  const open = (world: World): void => {
    world.spool = storage.open({ clock: () => world.nowMs })
  }
  const commands = [
    fc.integer({ min: 1, max: 40 }).map((count) =>
      command(`append ${count}`, async (model, world) => {
        world.nowMs += 1
        const ids = Array.from({ length: count }, () => String(serial++))
        model.kept.push(...ids)
        await Promise.all(ids.map((userAgent) => world.spool.append(anEvent({ userAgent }))))
      })
    ),
    fc.integer({ min: 1, max: 60 }).map((recordsMax) =>
      command(`read ${recordsMax}`, async (model, world) => {
        await Promise.resolve()
        world.batch = world.spool.read(recordsMax)
        const ids = recordsOf(world.batch).map((record) => agentOf(record))
        assert.deepEqual(ids, model.kept.slice(0, ids.length))
        assert.ok(ids.length >= Math.min(recordsMax, model.kept.length))
        model.handed.splice(0, model.handed.length, ...ids)
      })
    ),
    fc.constant(
      command('remove', async (model, world) => {
        await world.spool.remove(world.batch)
        const handed = new Set(model.handed)
        const left = model.kept.filter((id) => !handed.has(id))
        model.kept.splice(0, model.kept.length, ...left)
      })
    ),
    fc.constant(
      command('reopen', async (_model, world) => {
        await world.spool.close()
        open(world)
      })
    ),
  ]
  const law = fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (run) => {
    const world: World = {
      spool: storage.open(),
      nowMs: startMs + runCount++ * 1_000,
      batch: emptyBatch,
    }
    await world.spool.remove(world.spool.read(1_000_000))
    await world.spool.close()
    open(world)
    try {
      await fc.asyncModelRun(() => ({ model: { kept: [], handed: [] }, real: world }), run)
    } finally {
      await world.spool.close()
    }
  })
  await fc.assert(law, { numRuns: 25 })
}

function command(
  label: string,
  run: (model: Model, world: World) => Promise<void>
): fc.AsyncCommand<Model, World> {
  return { check: () => true, run, toString: () => label }
}

export const emptyBatch: SpoolBatch = { parts: () => [], recordCount: 0, frames: [] }

export function anEvent(fields: Partial<AdEventRecord>): AdEventRecord {
  return {
    type: 'ad-event',
    kind: 'impression',
    receivedAtMs: startMs,
    trackingData: 'AQ',
    userAgent: 'Mozilla/5.0',
    isPrefetch: false,
    ...fields,
  }
}

function agentOf(record: SpoolRecord): string {
  return record.type === 'ad-event' ? record.userAgent : ''
}

export function recordsOf(batch: SpoolBatch): readonly SpoolRecord[] {
  return entriesOf(batch).map((entry) => entry.record)
}
