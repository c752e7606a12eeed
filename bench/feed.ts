// A large catalog: `npm run bench:feed -- [--products 1000000] [--events 200000] [--samples 9]`. A real
// service with its defaults and the warehouse in process, over real HTTP on loopback. It loads a
// merchant feed, then events of one advertiser over 20,000 of the products, and asks for the report of
// the month with a filter on the title and without, in turns. Nothing in it is random.
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { prepareService } from '../tests/helpers/service.ts'
import { aBundle } from '../tests/helpers/bundle.ts'
import { createMinter, parseKeyRing } from '../src/tracking-data/tracking-data.ts'
import { placement } from '../tests/helpers/placement.ts'
import { cpuSeconds, keyRingOf, memoryMb } from './service-facts.ts'

const targets = { loadSeconds: 60, engineMb: 1_000, reportMs: 1_000 } as const
const phaseMsMax = 600_000
const mergedAfterMs = 90_000
const advertisedMax = 20_000
const nouns = ['coffee', 'tea', 'shampoo', 'soap', 'chocolate', 'biscuits', 'headphones', 'monitor']

const { values } = parseArgs({
  options: {
    products: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '200000' },
    samples: { type: 'string', default: '9' },
  },
})
const productCount = Number(values.products)
const eventCount = Number(values.events)

const closers: (() => Promise<void>)[] = []
const service = await prepareService(
  { after: (close) => closers.push(close) },
  { env: { SHELFTRACE_TRACKERS: '1' } }
)
try {
  await service.start()
  await service.admin('PUT', '/admin/v1/catalog', { ...aBundle(), products: [] })
  console.log(
    `method: one tracker, defaults, warehouse in process, loopback; node ${process.version}`
  )
  await measureLoad('load')
  await measureLoad('the same again, replacing', '?replace=true')
  await loadEvents()
  await measureReports('report')
  // The warehouse makes one part of the products when all their parts are a minute old.
  await sleep(mergedAfterMs)
  await measureReports('report, later')
} finally {
  for (const close of closers) await close()
}

async function measureLoad(what: string, query = ''): Promise<void> {
  const before = engineUsage()
  let peakMb = before.memoryMb
  const watching = setInterval(() => (peakMb = Math.max(peakMb, engineUsage().memoryMb)), 50)
  const startMs = performance.now()
  const { body, bytes } = feed()
  const answer = await send('PUT', `/admin/v1/markets/1/products${query}`, body)
  const seconds = (performance.now() - startMs) / 1_000
  clearInterval(watching)
  const { taken, refusedCount } = JSON.parse(answer) as { taken: number; refusedCount: number }
  if (taken !== productCount || refusedCount !== 0) throw new Error(answer.slice(0, 500))
  const cpu = engineUsage().cpuSeconds - before.cpuSeconds
  console.log(
    `${what}: ${taken} products of ${(bytes() / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s` +
      ` (target ${targets.loadSeconds} s: ${verdict(seconds <= targets.loadSeconds)}),` +
      ` ${cpu.toFixed(1)} s of CPU; engine from ${before.memoryMb.toFixed(0)} MB to at most` +
      ` ${peakMb.toFixed(0)} MB (target ${targets.engineMb} MB: ${verdict(peakMb <= targets.engineMb)})`
  )
}

/** About 450 bytes a row, as real feeds have: most of it is in columns that are not kept. */
function feed(): { readonly body: Readable; readonly bytes: () => number } {
  let bytes = 0
  const description = 'A product that does what products of its kind do, and well. '.repeat(3)
  async function* chunks(): AsyncGenerator<string> {
    yield 'id\ttitle\tdescription\tlink\timage link\tprice\tavailability\tbrand\tgtin\titem group id\n'
    for (let start = 0; start < productCount; start += 200) {
      const rows: string[] = []
      for (let index = start; index < Math.min(start + 200, productCount); index += 1) {
        const shop = `https://shop.example/products/${index}`
        rows.push(
          `sku-${index}\t${titleOf(index)}\t${description}\t${shop}\t${shop}.jpg\t9.99 EUR\tin_stock\t` +
            `Brand ${index % 977}\t${gtinOf(index)}\tG${index >> 2}\n`
        )
      }
      const chunk = rows.join('')
      bytes += chunk.length
      yield chunk
    }
  }
  return { body: Readable.from(chunks()), bytes: () => bytes }
}

function titleOf(index: number): string {
  return `Brand ${index % 977} ${nouns[index % nouns.length]} number ${index}, with a title as long as in feeds`
}

/** Spread over the numbers as those of a market are: 7919 is prime to the count of the numbers. */
function gtinOf(index: number): string {
  return String(4_000_000_000_000 + ((index * 7_919) % 10_000_000) * 10)
}

/** Nine impressions and a click of each ten, yesterday. */
async function loadEvents(): Promise<void> {
  const servedAtMs = Date.now() - 86_400_000
  const minter = createMinter(parseKeyRing(keyRingOf(service)))
  async function* lines(): AsyncGenerator<string> {
    for (let index = 0; index < eventCount; index += 1) {
      const { trackingData } = minter.mint({
        ...placement,
        gtin: gtinOf(((index % advertisedMax) * 47) % productCount),
        userId: `shopper-${index}`,
        currency: 'EUR',
        costPerClickMicros: 250_000n,
        costPerMilleMicros: 0n,
        servedAtMs,
      })
      const type = index % 10 === 0 ? 'click' : 'impression'
      const receivedAt = new Date(servedAtMs + 60_000).toISOString()
      yield `${JSON.stringify({ type, trackingData, receivedAt })}\n`
    }
  }
  const startMs = performance.now()
  const answer = await send('POST', '/admin/v1/events', Readable.from(lines()))
  const { accepted } = JSON.parse(answer) as { accepted: number }
  if (accepted !== eventCount) throw new Error(answer.slice(0, 500))
  for (;;) {
    const status = await service.admin('GET', '/admin/v1/status')
    if (((await status.json()) as { lagMs: number }).lagMs === 0) break
    if (performance.now() - startMs > phaseMsMax) throw new Error('the events were not shipped')
    await sleep(100)
  }
  const seconds = (performance.now() - startMs) / 1_000
  console.log(`${accepted} events over ${advertisedMax} products loaded in ${seconds.toFixed(0)} s`)
}

async function measureReports(when: string): Promise<void> {
  const filters = [{ field: 'PRODUCT_TITLE', values: ['Coffee'] }]
  const kinds = [
    { what: 'without a filter', filters: [], times: [] as number[] },
    { what: 'with a title filter', filters, times: [] as number[] },
  ]
  const before = engineUsage()
  let peakMb = before.memoryMb
  const watching = setInterval(() => (peakMb = Math.max(peakMb, engineUsage().memoryMb)), 20)
  for (let sample = 0; sample < Number(values.samples); sample += 1) {
    for (const kind of kinds) {
      const startMs = performance.now()
      const rowCount = await readReport(kind.filters)
      kind.times.push(performance.now() - startMs)
      if (rowCount === 0) throw new Error('the report has no rows')
    }
  }
  clearInterval(watching)
  const [plain = NaN, filtered = NaN] = kinds.map(({ what, times }) => {
    const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN
    const max = Math.max(...times)
    console.log(
      `${when}, ${what}: median ${median.toFixed(0)} ms, max ${max.toFixed(0)} ms` +
        ` (target ${targets.reportMs} ms: ${verdict(median <= targets.reportMs)})`
    )
    return median
  })
  const cpu =
    (engineUsage().cpuSeconds - before.cpuSeconds) / (kinds.length * Number(values.samples))
  console.log(
    `with a filter it takes ${(filtered / plain).toFixed(2)} of the time without;` +
      ` ${cpu.toFixed(2)} s of CPU per report; engine at most ${peakMb.toFixed(0)} MB`
  )
}

async function readReport(filters: readonly object[]): Promise<number> {
  const answer = await service.admin('POST', '/v2/advertisers/1/reports/spa/product.csv', {
    startDate: dayFromNow(-29),
    endDate: dayFromNow(0),
    filters,
  })
  const lines = (await answer.text()).split('\n')
  if (!answer.ok) throw new Error(lines.join('\n'))
  return lines.length - 2
}

function dayFromNow(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}

async function send(method: string, path: string, body: Readable): Promise<string> {
  const sent = request(`${service.campaignUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.adminKey}` },
    signal: AbortSignal.timeout(phaseMsMax),
  })
  const answered = new Promise<string>((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', (response) => text(response).then(resolve, reject))
  })
  body.pipe(sent)
  return await answered
}

function engineUsage(): { readonly memoryMb: number; readonly cpuSeconds: number } {
  return {
    memoryMb: memoryMb(service, 'engine', 'VmRSS'),
    cpuSeconds: cpuSeconds(service, 'engine'),
  }
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'MISSED'
}
