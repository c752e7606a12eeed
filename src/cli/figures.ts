import { ratesResultSchema, rebuildResponseSchema } from '../contract/admin.ts'
import { usageError } from './cli-error.ts'
import type { Command } from './context.ts'
import { unconvertedPageSchema, unconvertedQuerySchema } from '../contract/unconverted.ts'
import { listCommand } from './list.ts'
import { readAs } from './client.ts'
import { upload } from './upload.ts'

const readRates = readAs(ratesResultSchema)
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

export const ratesMissing = listCommand({
  name: 'rates missing',
  summary: 'List the amounts that reports cannot convert for want of a rate',
  path: '/unconverted',
  query: unconvertedQuerySchema,
  answer: unconvertedPageSchema,
  rows: 'rows',
  empty: 'Every amount has a rate.',
})

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
