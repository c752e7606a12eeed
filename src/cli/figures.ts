import { Type } from 'typebox'
import { ratesResultSchema, rebuildResponseSchema } from '../contract/admin.ts'
import { eventsResultSchema } from '../contract/event-lines.ts'
import { usageError, type Command } from './command.ts'
import { unconvertedPageSchema, unconvertedQuerySchema } from '../contract/unconverted.ts'
import { listCommand } from './list.ts'
import { describeRefused, upload } from './input.ts'

const eventsAnswerSchema = Type.Intersect([
  eventsResultSchema,
  Type.Object({ refusedCount: Type.Optional(Type.Integer({ minimum: 0 })) }),
])

export const eventsLoad: Command = {
  name: 'events load',
  usage: 'FILE|-',
  summary: 'Load events of the past, one JSON object per line, whatever the length of the file',
  positionalCount: 1,
  run: async (context) => {
    const call = { method: 'POST', path: '/events', contentType: 'application/x-ndjson' } as const
    const result = await upload(context, eventsAnswerSchema, call)
    const refusedCount = result.refusedCount ?? result.refused.length
    const lines = [
      `${result.accepted} events accepted, ${refusedCount} refused.`,
      ...describeRefused(result.refused, refusedCount),
    ]
    context.print(result, lines.join('\n'))
    return refusedCount === 0 ? 0 : 1
  },
}

export const ratesLoad: Command = {
  name: 'rates load',
  usage: 'FILE|-',
  summary: "Load the European Central Bank's reference rates (CSV, daily or historic)",
  positionalCount: 1,
  run: async (context) => {
    const call = { method: 'PUT', path: '/rates', contentType: 'text/csv' } as const
    const result = await upload(context, ratesResultSchema, call)
    const { days, rates, firstDay, lastDay } = result
    const span = firstDay === undefined ? '' : `, ${firstDay} to ${lastDay}`
    context.print(result, `${rates} rates of ${days} days stored${span}.`)
    return 0
  },
}

export const ratesMissing = listCommand({
  name: 'rates missing',
  summary: 'List the amounts that reports cannot convert for lack of a rate',
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
  run: async (context) => {
    const { from, to } = context.options
    if (typeof from !== 'string') throw usageError('--from must be a day such as 2026-03-01')
    if (typeof to !== 'string') throw usageError('--to must be a day such as 2026-03-31')
    const json = { startDate: from, endDate: to }
    const call = { method: 'POST', path: '/rebuilds', json } as const
    const result = await context.call(rebuildResponseSchema, call)
    const text = `${result.purchases} purchases are attributed again, then the days are sealed again.`
    context.print(result, text)
    return 0
  },
}
