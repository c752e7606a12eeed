// How fast the engine ships what waits in its spool: `npm run bench:drain -- [--events 400000]`. Half
// impressions, half purchases of two lines, are put into a spool with the engine stopped. A process of its
// own then drains it into an empty in-process warehouse with the real shipping step and nothing else. The
// same rows are planned without a warehouse, and then inserted in large batches without planning. With --live a
// whole service is under load instead (`live.ts`).
import { fork } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createIdentityHasher } from '../src/domain/identity.ts'
import { systemClock } from '../src/lib/clock.ts'
import { engineEnvironment, engineOptions } from '../src/processes/child.ts'
import { openFileSpool } from '../src/spool/file-spool.ts'
import { liveFrom, toConversionRecord } from '../src/spool/record.ts'
import type { SpoolRecord } from '../src/spool/record.ts'
import { createKeyRing, createMinter, formatKeyRing } from '../src/tracking-data/tracking-data.ts'
import type { DrainOrder, DrainResult } from './drain-engine.ts'
import { measureLive } from './live.ts'
import { sampleAd, sampleOrder } from './sample-input.ts'

const targets = { perSecond: 40_000, engineMb: 600 } as const
/** About a frame of a tracker under load. */
const appendsAtOnce = 200

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '400000' },
    'cpu-prof': { type: 'boolean', default: false },
    live: { type: 'boolean', default: false },
    rate: { type: 'string' },
    seconds: { type: 'string', default: '60' },
  },
})
const events = Number(values.events)
const folder = mkdtempSync(join(tmpdir(), 'shelftrace-drain-'))
const ring = createKeyRing()
const hashIdentity = createIdentityHasher(Buffer.alloc(32, 7))

try {
  if (values.live)
    await measureLive({ rate: Number(values.rate ?? 0), seconds: Number(values.seconds) })
  else await measureDrain()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measureDrain(): Promise<void> {
  console.log(`method: ${events} events, seed: serials from 0; node ${process.version}`)
  await fill(join(folder, 'spool'))
  cpSync(join(folder, 'spool'), join(folder, 'copy'), { recursive: true })
  const drained = await measure({ spool: 'spool', warehouse: 'drained', mode: 'drain' })
  const raw = await measure({ spool: 'copy', warehouse: 'raw', mode: 'raw' })
  print('drain', drained.whole)
  print('planning alone', raw.planning)
  print('raw insert', raw.whole)
  const rate = perSecond(drained.whole)
  const { peakMb } = drained.whole
  console.log(`drain to raw insert: ${(rate / perSecond(raw.whole)).toFixed(2)}`)
  console.log(`drain ${verdict(rate >= targets.perSecond)} its target of ${targets.perSecond}/s`)
  console.log(`peak memory ${verdict(peakMb <= targets.engineMb)} ${targets.engineMb} MB`)
}

async function fill(path: string): Promise<void> {
  const spool = openFileSpool({ path, bytesMax: 2 ** 40, clock: systemClock })
  const { mint } = createMinter(ring)
  for (let first = 0; first < events; first += appendsAtOnce) {
    const count = Math.min(appendsAtOnce, events - first)
    const records = Array.from({ length: count }, (_, index) => recordOf(first + index, mint))
    await Promise.all(records.map((record) => spool.append(record)))
  }
  await spool.close()
}

type Mint = ReturnType<typeof createMinter>['mint']

function recordOf(serial: number, mint: Mint): SpoolRecord {
  return serial % 2 === 0 ? impression(serial, mint) : conversion(serial)
}

function impression(serial: number, mint: Mint): SpoolRecord {
  const { trackingData } = mint({
    ...sampleAd(serial),
    advertiserId: 1 + (serial % 40),
    campaignId: 1_001 + (serial % 40),
    adGroupId: 5_001 + (serial % 40),
    costPerMilleMicros: 4_000_000n,
  })
  return {
    type: 'ad-event',
    kind: 'impression',
    receivedAtMs: Date.now(),
    trackingData,
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0',
    isPrefetch: false,
    caller: 'ordinary',
  }
}

function conversion(serial: number): SpoolRecord {
  return toConversionRecord(sampleOrder(serial), {
    receivedAtMs: Date.now(),
    origin: liveFrom('198.51.100.7'),
    presentedKey: 'none',
    hashIdentity,
  })
}

/** A process of its own, so that its memory and its threads are those of the engine alone. */
function measure(order: Omit<DrainOrder, 'events' | 'keyRing'>): Promise<DrainResult> {
  const profiled = ['--cpu-prof', `--cpu-prof-dir=${join(tmpdir(), 'shelftrace-prof')}`]
  const execArgv = [
    ...process.execArgv,
    // Those that the supervisor gives to an engine.
    ...engineOptions,
    ...(values['cpu-prof'] ? profiled : []),
  ]
  const child = fork(fileURLToPath(new URL('drain-engine.ts', import.meta.url)), [], {
    execArgv,
    env: { ...process.env, ...engineEnvironment, UV_THREADPOOL_SIZE: '16' },
  })
  const whole: DrainOrder = {
    ...order,
    spool: join(folder, order.spool),
    warehouse: join(folder, order.warehouse),
    events,
    keyRing: formatKeyRing(ring),
  }
  child.send(whole)
  return new Promise((resolve, reject) => {
    let result: DrainResult | undefined
    child.once('message', (message: DrainResult) => (result = message))
    child.once('exit', () => {
      if (result === undefined) reject(new Error('a process of the benchmark ended early'))
      else resolve(result)
    })
  })
}

function perSecond({ ms }: { readonly ms: number }): number {
  return (events * 1_000) / ms
}

function print(name: string, usage: DrainResult['whole']): void {
  const threads = Object.entries(usage.cpuMsByThread)
    .toSorted(([, a], [, b]) => b - a)
    .map(([thread, ms]) => `${thread} ${((ms * 1_000) / events).toFixed(1)}`)
  console.log(
    `${name}: ${perSecond(usage).toFixed(0)} events/s, peak ${usage.peakMb.toFixed(0)} MB` +
      `\n  CPU us/event by kind of thread: ${threads.join(', ')}`
  )
}

function verdict(isMet: boolean): string {
  return isMet ? 'meets' : 'MISSES'
}
