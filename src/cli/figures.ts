import { Type } from 'typebox'
import { ratesResultSchema, rebuildResponseSchema } from '../contract/admin.ts'
import { eventsResultSchema } from '../contract/event-lines.ts'
import { awaitReports, readStatus } from './await-reports.ts'
import { usageError, type Run } from './command.ts'
import { unconvertedPageSchema, unconvertedQuerySchema } from '../contract/unconverted.ts'
import { listCommand } from './list.ts'
import { describeRefused, upload } from './input.ts'
import { counted, formatCount } from './words.ts'

const eventsAnswerSchema = Type.Intersect([
  eventsResultSchema,
  Type.Object({ refusedCount: Type.Optional(Type.Integer({ minimum: 0 })) }),
])

export const eventsLoad: Run = async (context) => {
  const waits = context.options['wait'] === true
  if (waits) await readStatus(context)
  const call = { method: 'POST', path: '/events', contentType: 'application/x-ndjson' } as const
  const result = await upload(context, eventsAnswerSchema, call)
  const refusedCount = result.refusedCount ?? result.refused.length
  const isAnyAccepted = result.accepted > 0
  const lines = [
    `${counted(result.accepted, 'event')} accepted, ${formatCount(refusedCount)} refused.`,
    ...describeRefused(result.refused, refusedCount),
    ...(isAnyAccepted && !waits ? [reportsFollow] : []),
  ]
  // Before the wait, which may be broken off: what was refused is told once.
  context.print(result, lines.join('\n'))
  if (waits && isAnyAccepted) {
    await awaitReports(context)
    if (context.options['json'] !== true) await context.write('The reports have them.\n')
  }
  return refusedCount === 0 ? 0 : 1
}

const reportsFollow =
  'Reports have them in a minute or two; --wait waits for that, "shelftrace status" shows how far it is.'

export const ratesLoad: Run = async (context) => {
  const call = { method: 'PUT', path: '/rates', contentType: 'text/csv' } as const
  const result = await upload(context, ratesResultSchema, call)
  const { days, rates, firstDay, lastDay } = result
  const span = firstDay === undefined ? '' : `, ${firstDay} to ${lastDay}`
  context.print(result, `${counted(rates, 'rate')} of ${counted(days, 'day')} stored${span}.`)
  return 0
}

export const ratesMissing = listCommand({
  path: '/unconverted',
  query: unconvertedQuerySchema,
  answer: unconvertedPageSchema,
  rows: 'rows',
  empty: 'Every amount has a rate.',
})

export const rebuild: Run = async (context) => {
  const { from, to } = context.options
  if (typeof from !== 'string') throw usageError('--from must be a day such as 2026-03-01')
  if (typeof to !== 'string') throw usageError('--to must be a day such as 2026-03-31')
  const json = { startDate: from, endDate: to }
  const call = { method: 'POST', path: '/rebuilds', json } as const
  const result = await context.call(rebuildResponseSchema, call)
  const { purchases } = result
  const are = purchases === 1 ? 'is' : 'are'
  const text = `${counted(purchases, 'purchase')} ${are} attributed again, then the days are sealed again.`
  context.print(result, text)
  return 0
}
