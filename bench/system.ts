// How fresh the figures are and how much memory a whole service takes: `npm run bench:system --
// [--events 1000000] [--samples 15] [--rate 2000]`. A real service with its defaults, over real HTTP on loopback:
// first, how long an accepted impression and an attributed purchase take to show in the report of an idle service, or
// of one that takes events at a rate; then a flood of conversions and impressions in equal parts, and the memory
// after it.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { prepareService } from '../tests/helpers/service.ts'
import type { Service } from '../tests/helpers/service.ts'
import { readFigures, Shoppers } from '../tests/helpers/shoppers.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { keyRingOf, memoryMb } from './service-facts.ts'

const targets = { impressionMs: 3_000, purchaseMs: 6_000, trackerMb: 150, engineMb: 600 } as const
const requestsPerOrder = 50_000
const orderMsMax = 60_000
const secondsPerOrder = 10

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    samples: { type: 'string', default: '15' },
    rate: { type: 'string', default: '0' },
  },
})

const closers: (() => Promise<void>)[] = []
const service = await prepareService(
  { after: (close) => closers.push(close) },
  { env: { SHELFTRACE_TRACKERS: '1' } }
)
try {
  await service.start()
  console.log(`method: one tracker, defaults, loopback; node ${process.version}`)
  await measureFreshness(Number(values.samples), Number(values.rate))
  await measureMemory(Number(values.events))
} finally {
  for (const close of closers) await close()
}

async function measureFreshness(sampleCount: number, rate: number): Promise<void> {
  const shoppers = await Shoppers.prepare(service, 1_000)
  const underLoad = rate > 0 ? startLoad(rate) : null
  const delays = { impression: [] as number[], purchase: [] as number[] }
  for (let sample = 1; sample <= sampleCount; sample += 1) {
    await shoppers.shopOnce()
    const startMs = performance.now()
    await until(async () => (await readFigures(service)).impressions >= sample)
    delays.impression.push(performance.now() - startMs)
    await until(async () => (await readFigures(service)).purchases >= sample)
    delays.purchase.push(performance.now() - startMs)
  }
  await shoppers.stop()
  await underLoad?.stop()
  for (const [kind, limit] of [
    ['impression', targets.impressionMs],
    ['purchase', targets.purchaseMs],
  ] as const) {
    const sorted = delays[kind].toSorted((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)] ?? NaN
    const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? NaN
    const max = sorted.at(-1) ?? NaN
    console.log(
      `${kind} in the report after: median ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, max ${max.toFixed(0)} ms` +
        ` (target ${limit} ms: ${max <= limit ? 'met' : 'MISSED'})`
    )
  }
}

/** Events of another advertiser, so that the figures of the samples stay countable. */
function startLoad(rate: number): { stop(): Promise<void> } {
  const load = fork(fileURLToPath(new URL('load.ts', import.meta.url)))
  const ending = new AbortController()
  const sending = (async () => {
    for (let part = 0; !ending.signal.aborted; part += 1) {
      const requestsMax = rate * secondsPerOrder
      await sendPart(load, {
        kind: 'mixed',
        perSecond: rate,
        requestsMax,
        serialStart: part * requestsMax,
        advertiserId: 2,
      })
    }
    load.disconnect()
  })()
  return {
    stop: async () => {
      ending.abort()
      await sending
    },
  }
}

async function measureMemory(eventCount: number): Promise<void> {
  const peaks = { tracker: 0, engine: 0 }
  const watching = setInterval(() => {
    for (const program of ['tracker', 'engine'] as const) {
      peaks[program] = Math.max(peaks[program], memoryMb(service, program, 'VmRSS'))
    }
  }, 250)
  const load = fork(fileURLToPath(new URL('load.ts', import.meta.url)))
  const startMs = performance.now()
  let sent = 0
  for (let part = 0; sent < eventCount; part += 1) {
    sent += await sendPart(load, {
      kind: part % 2 === 0 ? 'impression' : 'conversion',
      requestsMax: requestsPerOrder,
      serialStart: part * requestsPerOrder,
    })
    process.stderr.write(`\r${sent} of ${eventCount} events sent`)
  }
  const sentMs = performance.now() - startMs
  load.disconnect()
  await until(async () => (await spoolLagMs(service)) === 0)
  const shippedMs = performance.now() - startMs
  console.log(
    `\n${sent} events sent in ${(sentMs / 1_000).toFixed(0)} s, all in the warehouse after ${(shippedMs / 1_000).toFixed(0)} s`
  )
  await sleep(10_000)
  clearInterval(watching)
  for (const [program, limit] of [
    ['tracker', targets.trackerMb],
    ['engine', targets.engineMb],
  ] as const) {
    console.log(
      `${program} memory: now ${memoryMb(service, program, 'VmRSS').toFixed(0)} MB, at most ${peaks[program].toFixed(0)} MB` +
        ` (target ${limit} MB: ${peaks[program] <= limit ? 'met' : 'MISSED'})`
    )
  }
}

type Part = Omit<LoadOrder, 'port' | 'ms' | 'connections' | 'keyRing'>

async function sendPart(load: ChildProcess, part: Part): Promise<number> {
  const order: LoadOrder = {
    ...part,
    port: Number(new URL(service.trackingUrl).port),
    ms: orderMsMax,
    connections: 64,
    keyRing: keyRingOf(service),
  }
  const answered = once(load, 'message')
  load.send(order)
  const [result] = (await answered) as [LoadResult]
  if (result.errors > 0) throw new Error(`${result.errors} requests were refused`)
  return result.requests
}

async function spoolLagMs(from: Service): Promise<number> {
  const answer = await from.admin('GET', '/admin/v1/status')
  return ((await answer.json()) as { lagMs: number }).lagMs
}

/** Questions without a pause would take a core from what is measured. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(100)
}
