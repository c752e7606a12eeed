// Reports, attribution and sealing at size:
// `npm run bench:reports -- [--sizes 1,10,50] [--seed 1] [--runs 15] [--forgetful]`
// Each run asks what was not asked before, of days that were, and then the same again. With --forgetful the warehouse
// remembers no answers, as while events arrive or on a server.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cellOf } from '../src/campaign/operations/report/print.ts'
import { csvFile } from '../src/campaign/operations/report/csv-answer.ts'
import { listColumns } from '../src/contract/report-columns.ts'
import type { ReportRequest } from '../src/contract/report-request.ts'
import { Attributor } from '../src/attribution/attribute.ts'
import { sealBatch } from '../src/days/seal.ts'
import { sumNextSpan } from '../src/days/sum-spans.ts'
import { KeptPages } from '../src/reports/kept-pages.ts'
import type { ReportResult } from '../src/reports/report.ts'
import { createReportRunner } from '../src/reports/run-report.ts'
import { openEmbeddedWarehouse } from '../src/warehouse/embedded.ts'
import { migrate } from '../src/warehouse/migrate.ts'
import type { Warehouse } from '../src/warehouse/warehouse.ts'
import { dayCount, insertData, largeAdvertiser, month } from './reports-data.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1,10,50' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '15' },
    forgetful: { type: 'boolean', default: false },
  },
})
const market = { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }
const catalog = {
  markets: () => [market],
  publishers: () => [],
  campaigns: () => [],
  adGroups: () => [],
}
const base: ReportRequest = {
  ...month,
  filters: [],
  attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
  page: 0,
  limit: 10_000,
  sortType: 'DESC',
  dateBreakdown: false,
  orderBy: 'GTIN',
}
const asCsv = 'month as CSV'
const questions: readonly (readonly [string, Partial<ReportRequest>])[] = [
  ['month', {}],
  // As the advertiser gets it: a figure is printed when it is read, which the others leave out.
  [asCsv, {}],
  ['by ratio', { orderBy: 'RETURN_ON_AD_SPEND' }],
  ['by day', { dateBreakdown: true }],
  ['by day and ratio', { dateBreakdown: true, orderBy: 'CLICK_THROUGH_RATE' }],
  ['by day, last page', { dateBreakdown: true, page: 9 }],
]

console.log(
  `method: events over ${dayCount} days, of which ${largeAdvertiser.monthEvents} of one advertiser in the ` +
    `month reported; ${values.runs} runs of each report in process; seed ${values.seed}; node ${process.version}`
)
for (const millions of values.sizes.split(',').map(Number)) await measure(millions * 1_000_000)

async function measure(events: number): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-bench-reports-'))
  const warehouse = openEmbeddedWarehouse({
    path: join(path, 'warehouse'),
    remembersAnswers: !values.forgetful,
  })
  try {
    await migrate(warehouse)
    const size = { events, purchases: Math.ceil(events / 50), seed: Number(values.seed) }
    const insertSeconds = await secondsOf(() => insertData(warehouse, size))
    console.log(
      `\n${events / 1e6} million events, ${size.purchases} purchases, inserted in ${insertSeconds.toFixed(0)} s`
    )
    await measureAttribution(warehouse)
    await measureReports(warehouse, path, 'open')
    await measureSealing(warehouse)
    await measureReports(warehouse, path, 'days')
    await measureSpans(warehouse)
    await measureReports(warehouse, path, 'sealed')
    await printBytes(warehouse, events)
  } finally {
    await warehouse.close()
    rmSync(path, { recursive: true })
  }
}

async function measureAttribution(warehouse: Warehouse): Promise<void> {
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  const seconds = await secondsOf(async () => {
    while ((await attributor.attributeBatch()).hasMore);
  })
  const [counts] = await warehouse.rows<{ lines: number; touchpoints: number; credited: number }>(`
    SELECT (SELECT sum(length(line_gtin)) FROM delivery) AS lines, (SELECT count() FROM touchpoint) AS touchpoints,
      (SELECT sum(length(line_index)) FROM attribution FINAL) AS credited`)
  const perSecond = (counts?.lines ?? 0) / seconds
  console.log(
    `attribution      ${perSecond.toFixed(0)} lines/s (${counts?.lines} lines, ${counts?.credited} credited, ` +
      `${counts?.touchpoints} touchpoints, ${seconds.toFixed(1)} s; target 50000)`
  )
}

async function measureSealing(warehouse: Warehouse): Promise<void> {
  const deps = {
    warehouse,
    markets: () => [market],
    settledThroughMs: () => Date.parse('2026-03-20'),
  }
  let sealedCount = 0
  const seconds = await secondsOf(async () => {
    for (;;) {
      const sealed = await sealBatch(deps)
      sealedCount += sealed.sealedCount
      if (!sealed.hasMore) return
    }
  })
  const perDay = (seconds * 1_000) / dayCount
  console.log(
    `sealing          ${perDay.toFixed(0)} ms a day (${sealedCount} market days, ${seconds.toFixed(1)} s)  RSS ${rssMb()} MB`
  )
}

/** Weeks and months of the sealed days. */
async function measureSpans(warehouse: Warehouse): Promise<void> {
  let spanCount = 1
  const seconds = await secondsOf(async () => {
    while (await sumNextSpan({ warehouse, markets: () => [market], settledMs: 0 })) spanCount += 1
  })
  console.log(
    `spans            ${((seconds * 1_000) / spanCount).toFixed(0)} ms each (${spanCount}, ${seconds.toFixed(1)} s)  RSS ${rssMb()} MB`
  )
}

/** Ten million events that were inserted within a minute are merged for minutes, on the cores that reports need. */
async function untilMerged(warehouse: Warehouse): Promise<void> {
  // A table looks for work up to five seconds after it had none.
  for (let calmSeconds = 0; calmSeconds < 6; calmSeconds += 1) {
    const [row] = await warehouse.rows<{ count: number }>(
      'SELECT count() AS count FROM system.merges'
    )
    if (row?.count !== 0) calmSeconds = -1
    await sleep(1_000)
  }
}

async function measureReports(warehouse: Warehouse, path: string, state: string): Promise<void> {
  await untilMerged(warehouse)
  const keptPages = new KeptPages({ folder: join(path, 'kept'), clock: Date.now })
  const run = createReportRunner({ warehouse, catalog: () => catalog, keptPages })
  const ask = (changes: Partial<ReportRequest>) =>
    run({
      advertiserId: largeAdvertiser.id,
      request: { ...base, ...changes },
      keyId: 'bench',
      signal: new AbortController().signal,
    })
  let askedCount = 0
  for (const [name, changes] of questions) {
    const times: { readonly first: number[]; readonly again: number[] } = { first: [], again: [] }
    let rowCount = 0
    const time = async (limit: number) => {
      const startMs = performance.now()
      const result = await ask({ ...changes, limit })
      rowCount =
        name === asCsv ? printCsv(result).toString().split('\n').length - 2 : result.rows.length
      return performance.now() - startMs
    }
    for (let round = 0; round <= Number(values.runs); round++) {
      // Nobody asked for pages of this many rows before.
      askedCount += 1
      const limit = base.limit - askedCount
      if (changes.page !== undefined) await ask({ ...changes, page: 0, limit })
      const [first, again] = [await time(limit), await time(limit)]
      // The first round warms up.
      if (round === 0) continue
      times.first.push(first)
      times.again.push(again)
    }
    const { first, again } = times
    console.log(
      `${state.padEnd(7)} ${name.padEnd(18)} median ${partOf(first, 0.5)} ms  p99 ${partOf(first, 0.99)} ms  ` +
        `again ${partOf(again, 0.5)} ms  ${rowCount} rows`
    )
  }
  await keptPages.close()
}

function partOf(times: readonly number[], part: number): string {
  const sorted = times.toSorted((a, b) => a - b)
  return (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(0).padStart(5)
}

function printCsv({ rows }: ReportResult): Buffer {
  const columns = listColumns(base)
  return csvFile(rows, {
    header: columns,
    cells: (row) => columns.map((column) => cellOf[column](row)),
  })
}

async function printBytes(warehouse: Warehouse, events: number): Promise<void> {
  const tables = await warehouse.rows<{ table: string; bytes: number }>(
    `SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()
     GROUP BY table ORDER BY bytes DESC LIMIT 6`
  )
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0)
  const parts = tables.map(({ table, bytes }) => `${table} ${(bytes / events).toFixed(1)}`)
  console.log(
    `disk             ${(total / events).toFixed(1)} bytes an event (${parts.join(', ')})  RSS ${rssMb()} MB`
  )
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return (performance.now() - startMs) / 1_000
}

function rssMb(): string {
  return (process.memoryUsage.rss() / 1e6).toFixed(0)
}
