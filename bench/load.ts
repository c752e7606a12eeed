// The load generator: raw sockets in a process of its own, one request at a time per connection,
// because an HTTP client costs about what the server does and would be what is measured.
import { connect } from 'node:net'
import { createMinter, parseKeyRing } from '../src/tracking-data/tracking-data.ts'
import { sampleAd, sampleOrder } from './sample-input.ts'

export interface LoadOrder {
  /** Mixed are impressions and conversions in turns. */
  readonly kind: 'conversion' | 'keyed-conversion' | 'impression' | 'mixed'
  readonly port: number
  readonly ms: number
  readonly connections: number
  /** No request is sent before its time at this rate; as fast as answers come when absent. */
  readonly perSecond?: number
  /** Whose ads are seen; that of the sample ad when absent. */
  readonly advertiserId?: number
  readonly serialStart: number
  readonly requestsMax: number
  readonly keyRing: string
}

export interface LoadResult {
  readonly requests: number
  readonly errors: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly isExhausted: boolean
}

const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0'

process.on('message', (order: LoadOrder) => {
  void run(order).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))

async function run(order: LoadOrder): Promise<LoadResult> {
  const requests = requestsOf(order)
  const latencies: number[] = []
  const startMs = performance.now()
  const state = { next: 0, errors: 0, startMs, untilMs: startMs + order.ms }
  const lanes = Array.from({ length: order.connections }, () =>
    sendUntil({ order, requests, latencies, state })
  )
  await Promise.all(lanes)
  const seconds = (performance.now() - startMs) / 1_000
  latencies.sort((a, b) => a - b)
  return {
    requests: latencies.length,
    errors: state.errors,
    perSecond: latencies.length / seconds,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? NaN,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? NaN,
    isExhausted: state.next >= requests.length,
  }
}

interface Lane {
  readonly order: LoadOrder
  readonly requests: readonly Buffer[]
  readonly latencies: number[]
  readonly state: {
    next: number
    errors: number
    readonly startMs: number
    readonly untilMs: number
  }
}

function sendUntil({ order, requests, latencies, state }: Lane): Promise<void> {
  return new Promise((resolve) => {
    let sentAtMs = 0
    const socket = connect(order.port, '127.0.0.1', send)
    socket.setNoDelay(true)
    function send(): void {
      sentAtMs = performance.now()
      const request = requests[state.next]
      if (request === undefined || sentAtMs > state.untilMs) {
        socket.end()
        return
      }
      const dueInMs = dueAtMs(order, state) - sentAtMs
      state.next += 1
      if (dueInMs < 1) return void socket.write(request)
      setTimeout(() => {
        sentAtMs = performance.now()
        socket.write(request)
      }, dueInMs)
    }
    // Answers are small and come whole; one that does not end in its body counts as an error.
    socket.on('data', (answer) => {
      latencies.push(performance.now() - sentAtMs)
      const isGood = answer[9] === 0x32 && answer[answer.length - 1] === 0x7d
      if (!isGood) state.errors += 1
      send()
    })
    socket.on('error', () => (state.errors += 1))
    socket.on('close', () => resolve())
  })
}

function dueAtMs({ perSecond }: LoadOrder, { next, startMs }: Lane['state']): number {
  return perSecond === undefined ? 0 : startMs + (next * 1_000) / perSecond
}

function requestsOf(order: LoadOrder): readonly Buffer[] {
  switch (order.kind) {
    case 'impression':
      return impressions(order)
    case 'mixed': {
      const half = { ...order, requestsMax: Math.ceil(order.requestsMax / 2) }
      const purchases = conversions(half)
      return impressions(half).flatMap((request, index) => [request, purchases[index] ?? request])
    }
    case 'conversion':
    case 'keyed-conversion':
      return conversions(order)
  }
}

function conversions({ kind, serialStart, requestsMax }: LoadOrder): readonly Buffer[] {
  const key = kind !== 'keyed-conversion' ? '' : `Authorization: Bearer st_${'k'.repeat(43)}\r\n`
  return Array.from({ length: requestsMax }, (_, index) => {
    const body = JSON.stringify(sampleOrder(serialStart + index))
    return Buffer.from(
      `POST /conversion HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n` +
        `Accept: application/json\r\n${key}Content-Length: ${body.length}\r\n\r\n${body}`
    )
  })
}

function impressions(order: LoadOrder): readonly Buffer[] {
  const { requestsMax, keyRing, serialStart, advertiserId } = order
  const minter = createMinter(parseKeyRing(keyRing))
  return Array.from({ length: requestsMax }, (_, index) => {
    const ad = sampleAd(serialStart + index)
    const { trackingData } = minter.mint({
      ...ad,
      // Of an advertiser that the catalog does not know.
      ...(advertiserId !== undefined && { advertiserId, campaignId: 9_001, adGroupId: 9_002 }),
    })
    return Buffer.from(
      `POST /impression/${trackingData} HTTP/1.1\r\nHost: bench\r\nUser-Agent: ${agent}\r\n` +
        `Accept: application/json\r\nContent-Length: 0\r\n\r\n`
    )
  })
}
