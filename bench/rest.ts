// The memory of an engine beside a large history: `npm run bench:rest -- [--events 10000000]`. The history is put into
// the warehouse of a service while it is stopped. A first start attributes and seals it; a second one only answers
// reports.
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openEmbeddedWarehouse } from '../src/warehouse/embedded.ts'
import { aBundle } from '../tests/helpers/bundle.ts'
import { prepareService } from '../tests/helpers/service.ts'
import { insertData, largeAdvertiser, month } from './reports-data.ts'
import { memoryMb } from './service-facts.ts'

const target = { engineMb: 700 } as const
const reportRounds = 20

const { values } = parseArgs({ options: { events: { type: 'string', default: '10000000' } } })
const events = Number(values.events)
const closers: (() => Promise<void>)[] = []
const service = await prepareService(
  { after: (close) => closers.push(close) },
  { env: { SHELFTRACE_TRACKERS: '1' } }
)
try {
  await service.start()
  const loaded = await service.admin('PUT', '/admin/v1/catalog', aBundle())
  if (!loaded.ok) throw new Error(`catalog: ${loaded.status} ${await loaded.text()}`)
  await service.terminate()
  const warehouse = openEmbeddedWarehouse({ path: join(service.dataDir, 'warehouse') })
  await insertData(warehouse, { events, purchases: Math.ceil(events / 50), seed: 1 })
  await warehouse.close()
  console.log(`method: defaults, ${events} events in the warehouse; node ${process.version}`)

  const startMs = performance.now()
  await service.start()
  while (!(await isCaughtUp())) await sleep(1_000)
  await settle()
  console.log(
    `attributed and sealed after ${((performance.now() - startMs) / 1_000).toFixed(0)} s; ${describeMemory()}`
  )
  await service.terminate()
  await service.start()
  for (let round = 0; round < reportRounds; round += 1) {
    await readReport({ dateBreakdown: false })
    await readReport({ dateBreakdown: true })
  }
  console.log(`at rest, after ${reportRounds * 2} reports of a month: ${describeMemory()}`)
} finally {
  for (const close of closers) await close()
}

interface Status {
  readonly attribution?: { readonly lagMs: number }
  readonly days?: { readonly unsealed: number }
}

async function isCaughtUp(): Promise<boolean> {
  const answer = await service.admin('GET', '/admin/v1/status')
  const { attribution, days } = (await answer.json()) as Status
  return attribution?.lagMs === 0 && days?.unsealed === 0
}

/** Weeks and months are summed, and rows that were replaced are swept, while nothing is asked. */
async function settle(): Promise<void> {
  await sleep(30_000)
}

async function readReport(changes: { readonly dateBreakdown: boolean }): Promise<void> {
  const path = `/v2/advertisers/${largeAdvertiser.id}/reports/spa/product.json`
  const answer = await service.admin('POST', path, { ...month, ...changes })
  if (!answer.ok) throw new Error(`report: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

function describeMemory(): string {
  const [now, peak] = [memoryMb(service, 'engine', 'VmRSS'), memoryMb(service, 'engine', 'VmHWM')]
  const isMet = peak <= target.engineMb
  return `engine memory: now ${now.toFixed(0)} MB, at most ${peak.toFixed(0)} MB (target ${target.engineMb} MB: ${isMet ? 'met' : 'MISSED'})`
}
