import { ratesResultSchema, rebuildResponseSchema } from '../contract/admin.ts'
import { usageError } from './cli-error.ts'
import type { Command } from './context.ts'
import { unconvertedPageSchema, type UnconvertedPage } from '../contract/unconverted.ts'
import { readAs } from './read-as.ts'
import { formatTable } from './table.ts'
import { upload } from './upload.ts'

const readRates = readAs(ratesResultSchema)
const readUnconverted = readAs(unconvertedPageSchema)
const readRebuild = readAs(rebuildResponseSchema)

export const ratesLoad: Command = {
  name: 'rates load',
  usage: 'FILE|-',
  summary: "Load the European Central Bank's reference rates (CSV, daily or historic)",
  options: {},
  positionalCount: 1,
  run: async (context) => {
    const call = { method: 'PUT', path: '/rates', contentType: 'text/csv' } as const
    const result = readRates(await upload(context, call))
    const { days, rates, firstDay, lastDay } = result
    const span = firstDay === undefined ? '' : `, ${firstDay} to ${lastDay}`
    context.print(result, `${rates} rates of ${days} days stored${span}.`)
    return 0
  },
}

export const ratesMissing: Command = {
  name: 'rates missing',
  usage: '--from DAY --to DAY [--limit N --after CURSOR]',
  summary: 'List the amounts that reports cannot convert for want of a rate',
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    limit: { type: 'string' },
    after: { type: 'string' },
  },
  positionalCount: 0,
  run: async (context) => {
    const { from, to, limit, after } = context.options
    if (typeof from !== 'string') throw usageError('--from must be a day such as 2026-03-01')
    if (typeof to !== 'string') throw usageError('--to must be a day such as 2026-03-31')
    const query = new URLSearchParams({ startDate: from, endDate: to })
    if (typeof limit === 'string') query.set('limit', limit)
    if (typeof after === 'string') query.set('after', after)
    const call = { method: 'GET', path: `/unconverted?${query.toString()}` } as const
    const page = readUnconverted(await context.client().call(call))
    context.print(page, describeUnconverted(page))
    return 0
  },
}

function describeUnconverted({ rows, next }: UnconvertedPage): string {
  if (rows.length === 0) return 'Every amount has a rate.'
  const header = [
    'DATE',
    'MARKET',
    'ADVERTISER',
    'CURRENCY',
    'IMPRESSIONS',
    'CLICKS',
    'SPEND',
    'LINES',
    'VALUE',
  ]
  const table = formatTable(
    header,
    rows.map((row) => [
      row.date,
      row.market ?? `${row.marketId} (not in the catalog)`,
      String(row.advertiserId),
      row.currency,
      String(row.impressions),
      String(row.clicks),
      row.spend,
      String(row.lines),
      row.value,
    ])
  )
  return next === undefined ? table : `${table}\nMore: --after ${next}`
}

export const rebuild: Command = {
  name: 'rebuild',
  usage: '--from DAY --to DAY',
  summary: 'Attribute and seal days again, from the events; both days are included',
  options: { from: { type: 'string' }, to: { type: 'string' } },
  positionalCount: 0,
  run: async (context) => {
    const { from, to } = context.options
    if (typeof from !== 'string') throw usageError('--from must be a day such as 2026-03-01')
    if (typeof to !== 'string') throw usageError('--to must be a day such as 2026-03-31')
    const body = Buffer.from(JSON.stringify({ startDate: from, endDate: to }))
    const answer = await context.client().call({ method: 'POST', path: '/rebuilds', body })
    const result = readRebuild(answer)
    const text = `${result.purchases} purchases are attributed again, then the days are sealed again.`
    context.print(result, text)
    return 0
  },
}
