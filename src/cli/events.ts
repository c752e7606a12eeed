import { Type } from 'typebox'
import { eventsResultSchema } from '../contract/admin.ts'
import type { Command } from './context.ts'
import { readAs } from './client.ts'
import { describeRefused, upload } from './upload.ts'

const readResult = readAs(
  Type.Intersect([
    eventsResultSchema,
    Type.Object({ refusedCount: Type.Optional(Type.Integer({ minimum: 0 })) }),
  ])
)

export const eventsLoad: Command = {
  name: 'events load',
  usage: 'FILE|-',
  summary: 'Load events of the past, one JSON object per line, whatever the length of the file',
  options: {},
  positionalCount: 1,
  run: async (context) => {
    const call = { method: 'POST', path: '/events', contentType: 'application/x-ndjson' } as const
    const result = readResult(await upload(context, call))
    const refusedCount = result.refusedCount ?? result.refused.length
    const lines = [
      `${result.accepted} events accepted, ${refusedCount} refused.`,
      ...describeRefused(result.refused, refusedCount),
    ]
    context.print(result, lines.join('\n'))
    return refusedCount === 0 ? 0 : 1
  },
}
