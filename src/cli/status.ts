import { statusResponseSchema, type StatusResponse } from '../contract/admin.ts'
import type { Command } from './context.ts'
import { readAs } from './read-as.ts'
import { formatTable } from './table.ts'

const readStatus = readAs(statusResponseSchema)

export const status: Command = {
  name: 'status',
  usage: '',
  summary: 'Show what waits, what is sealed, and what does not count and why',
  options: {},
  positionalCount: 0,
  run: async (context) => {
    const answer = readStatus(await context.client().call({ method: 'GET', path: '/status' }))
    context.print(answer, describe(answer))
    return 0
  },
}

function describe(answer: StatusResponse): string {
  const { warehouse, spool, lagMs, sealed, uncounted, conflicts, setAside } = answer
  const facts = [
    ['version', answer.version],
    ['warehouse', `${warehouse.kind}, ${warehouse.version}`],
    ['spool', `${spool.bytes} bytes wait, the oldest for ${lagMs} ms`],
    ['conflicts', String(conflicts)],
    ['set aside', String(setAside)],
    ['crowds', String(answer.crowds)],
    ['misplaced', String(answer.misplaced)],
    ['retention', describeRetention(answer.retention)],
    ...sealed.map(({ marketId, completeThrough }) => [
      `market ${marketId}`,
      `sealed through ${completeThrough ?? 'no day yet'}`,
    ]),
    ...Object.entries(uncounted).map(([reason, count]) => [
      `not counted: ${reason}`,
      String(count),
    ]),
  ]
  return formatTable(['STATE', ''], facts)
}

function describeRetention({
  days,
  finalBefore,
  waitsForDay,
}: StatusResponse['retention']): string {
  const final = finalBefore === null ? '' : `, days before ${finalBefore} are final`
  const waiting = waitsForDay === null ? '' : `, waits for ${waitsForDay} to be sealed`
  return `${days} days${final}${waiting}`
}
