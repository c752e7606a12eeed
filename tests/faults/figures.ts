// What the service says, as an advertiser and an operator read it.

import { eventually } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import type { Installation } from './installation.ts'
import type { JourneyFigures } from './ledger.ts'

const rowsPerPage = 10_000

interface Page {
  readonly rows: readonly Record<string, string>[]
  readonly totalRows: number
}

/** All rows of the report by product; throws where a product has more than one row. */
export async function readJourneys(service: Service): Promise<Map<string, JourneyFigures>> {
  const figures = new Map<string, JourneyFigures>()
  for (let page = 0, rest = 1; rest > 0; page += 1) {
    const { rows, totalRows } = await readPage(service, page)
    for (const row of rows) {
      const gtin = row['GTIN'] ?? ''
      if (figures.has(gtin)) throw new Error(`two rows for ${gtin}`)
      figures.set(gtin, {
        counts: {
          load: Number(row['LOADS']),
          impression: Number(row['IMPRESSIONS']),
          click: Number(row['CLICKS']),
          purchase: Number(row['CONVERSIONS']),
        },
        valueCents: Math.round(Number(row['CONVERSION_VALUE']) * 100),
      })
    }
    rest = totalRows - (page + 1) * rowsPerPage
  }
  return figures
}

async function readPage(service: Service, page: number): Promise<Page> {
  const answer = await service.admin('POST', '/v2/advertisers/1/reports/spa/product.json', {
    // Wide enough for clocks that were set and for a run over midnight.
    startDate: dayFromNow(-2),
    endDate: dayFromNow(2),
    attributionProfile: 'CLK_14_DAYS',
    page,
    limit: rowsPerPage,
  })
  if (!answer.ok) throw new Error(`report: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Page
}

export interface Totals {
  readonly spoolBytes: number
  readonly conflicts: number
  readonly setAside: number
  readonly countedPurchases: number
  /** Deliveries that are still to be looked at, repeats among them: their receipt may lie ahead. */
  readonly waitingDeliveries: number
}

/** Of the operator's status, of the publisher's intake and of the metrics of each node. */
export async function readTotals({ engine, nodes }: Installation, key: string): Promise<Totals> {
  const { conflicts, setAside } = await readStatus(engine)
  const intake = await readJson<{ days: { conversions: { counted: number; waiting: number } }[] }>(
    engine,
    `/v2/publishers/10/intake?startDate=${dayFromNow(-2)}&endDate=${dayFromNow(2)}`
  )
  const spoolBytes = await Promise.all(
    nodes.map(async ({ service }) => await readSpoolBytes(service, key))
  )
  return {
    spoolBytes: spoolBytes.reduce((sum, bytes) => sum + bytes, 0),
    conflicts,
    setAside,
    countedPurchases: intake.days.reduce((sum, { conversions }) => sum + conversions.counted, 0),
    waitingDeliveries: intake.days.reduce((sum, { conversions }) => sum + conversions.waiting, 0),
  }
}

export async function readStatus(service: Service) {
  return await readJson<{ readonly conflicts: number; readonly setAside: number }>(
    service,
    '/admin/v1/status'
  )
}

/** As an operator who has mended a cause; what has another one is set aside again. Says how much it was. */
export async function replaySetAside(service: Service, patienceMs: number): Promise<number> {
  let count = 0
  await eventually(
    'what was set aside is replayed',
    async () => {
      const answer = await service.admin('POST', '/admin/v1/set-aside/replay', { all: true })
      if (!answer.ok) throw new Error(`replay: ${answer.status} ${await answer.text()}`)
      count = ((await answer.json()) as { replayed: number }).replayed
      return true
    },
    patienceMs
  )
  return count
}

async function readSpoolBytes(service: Service, key: string): Promise<number> {
  const answer = await fetch(`${service.campaignUrl}/metrics`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const text = await answer.text()
  const [, bytes] = /^shelftrace_spool_bytes (\S+)$/mu.exec(text) ?? []
  if (!answer.ok || bytes === undefined) throw new Error(`metrics: ${answer.status} ${text}`)
  return Number(bytes)
}

async function readJson<Body>(service: Service, path: string): Promise<Body> {
  const answer = await service.admin('GET', path)
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Body
}

function dayFromNow(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}
