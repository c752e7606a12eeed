// How many events a second a whole service keeps up with: `npm run bench:drain -- --live [--rate 10000]
// [--seconds 60]`. One tracker and the engine share the cores with the load, which comes at a fixed rate from a
// process of its own, half impressions, half purchases of two lines. Without a rate it rises step by step until
// the oldest event in the spool is older than three seconds.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/lib/clock.ts'
import { openFileSpool } from '../src/spool/file-spool.ts'
import { prepareService } from '../tests/helpers/service.ts'
import type { Service } from '../tests/helpers/service.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { keyRingOf, memoryMb } from './service-facts.ts'

const lagMsMax = 3_000
const target = 10_000
const steps = { first: 4_000, by: 2_000, seconds: 20 } as const
const watchMs = 100
/** The service starts its work of the first minutes, such as compiling its code, at this rate. */
const warmUp = { rate: 2_000, seconds: 10 } as const

export interface LiveOptions {
  /** Events a second; 0 to search for the highest. */
  readonly rate: number
  readonly seconds: number
}

interface LiveRun {
  /** Events a second that were answered. */
  readonly rate: number
  readonly p99Ms: number
  /** The greatest age of the oldest event in the spool. */
  readonly spoolMs: number
  /** The longest that a purchase waited for its attribution after it was due. */
  readonly purchaseMs: number
  /** The peak of the engine so far. */
  readonly engineMb: number
}

export async function measureLive({ rate, seconds }: LiveOptions): Promise<void> {
  const closers: (() => Promise<void>)[] = []
  const service = await prepareService(
    { after: (close) => closers.push(close) },
    { env: { SHELFTRACE_TRACKERS: '1' } }
  )
  const load = fork(fileURLToPath(new URL('load.ts', import.meta.url)))
  try {
    await service.start()
    console.log(
      `method: one tracker, defaults, loopback, load at a fixed rate; node ${process.version}`
    )
    const live = new Live(service, load)
    await live.run(warmUp.rate, warmUp.seconds)
    if (rate > 0) print(rate, await live.run(rate, seconds))
    else await search(live)
  } finally {
    load.disconnect()
    for (const close of closers) await close()
  }
}

async function search(live: Live): Promise<void> {
  let highest = 0
  for (let rate: number = steps.first; ; rate += steps.by) {
    const result = await live.run(rate, steps.seconds)
    print(rate, result)
    if (result.spoolMs > lagMsMax || result.rate < rate * 0.95) break
    highest = rate
  }
  console.log(
    `highest rate with a lag below ${lagMsMax} ms: ${highest} events/s (target ${target})`
  )
}

function print(wanted: number, { rate, p99Ms, spoolMs, purchaseMs, engineMb }: LiveRun): void {
  console.log(
    `${wanted} events/s wanted, ${rate.toFixed(0)} answered (p99 ${p99Ms.toFixed(0)} ms): ` +
      `oldest event in the spool at most ${spoolMs} ms, oldest due purchase ${purchaseMs} ms, ` +
      `engine at most ${engineMb.toFixed(0)} MB`
  )
}

class Live {
  readonly #service: Service
  readonly #load: ChildProcess
  #serial = 0

  constructor(service: Service, load: ChildProcess) {
    this.#service = service
    this.#load = load
  }

  async run(rate: number, seconds: number): Promise<LiveRun> {
    const spool = openFileSpool({
      path: join(this.#service.dataDir, 'spool'),
      bytesMax: 2 ** 40,
      clock: systemClock,
    })
    const order = this.#order(rate, seconds)
    const lags = { spoolMs: 0, purchaseMs: 0 }
    const watchSpool = setInterval(() => {
      const { oldestAtMs } = spool.depth()
      if (oldestAtMs !== null) lags.spoolMs = Math.max(lags.spoolMs, Date.now() - oldestAtMs)
    }, watchMs)
    const sent = new AbortController()
    const watchPurchases = async (): Promise<void> => {
      while (!sent.signal.aborted) {
        lags.purchaseMs = Math.max(lags.purchaseMs, await this.#purchaseLagMs())
        await sleep(1_000)
      }
    }
    const watching = watchPurchases()
    const answered = once(this.#load, 'message')
    this.#load.send(order)
    const [result] = (await answered) as [LoadResult]
    sent.abort()
    await watching
    clearInterval(watchSpool)
    if (result.errors > 0) throw new Error(`${result.errors} requests were refused`)
    const engineMb = memoryMb(this.#service, 'engine', 'VmHWM')
    while (spool.depth().oldestAtMs !== null || (await this.#purchaseLagMs()) > 0) {
      await sleep(watchMs)
    }
    await spool.close()
    return { rate: result.perSecond, p99Ms: result.p99Ms, ...lags, engineMb }
  }

  #order(rate: number, seconds: number): LoadOrder {
    const requestsMax = rate * seconds
    const serialStart = this.#serial
    this.#serial += requestsMax
    return {
      kind: 'mixed',
      port: Number(new URL(this.#service.trackingUrl).port),
      ms: seconds * 1_000,
      connections: 64,
      perSecond: rate,
      serialStart,
      requestsMax,
      keyRing: keyRingOf(this.#service),
    }
  }

  /** How long ago the oldest purchase that is due for attribution was shipped. */
  async #purchaseLagMs(): Promise<number> {
    const answer = await this.#service.admin('GET', '/metrics')
    const text = await answer.text()
    return 1_000 * Number(/^shelftrace_attribution_lag_seconds (\S+)$/mu.exec(text)?.[1])
  }
}
