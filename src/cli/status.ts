import { statusResponseSchema, type StatusResponse } from '../contract/admin.ts'
import type { Command } from './command.ts'
import { formatTable } from './list.ts'

export const status: Command = {
  name: 'status',
  usage: '',
  summary: 'Show what waits, what is sealed, and what does not count and why',
  run: async (context) => {
    const answer = await context.call(statusResponseSchema, { method: 'GET', path: '/status' })
    context.print(answer, describe(answer))
    return 0
  },
}

function describe(answer: StatusResponse): string {
  const { warehouse, spool, lagMs, clock, failing } = answer
  const facts = [
    ['version', answer.version],
    [
      'warehouse',
      warehouse.available
        ? `${warehouse.kind}, ${warehouse.version ?? 'unknown'}`
        : 'does not answer',
    ],
    ['spool', `${spool.bytes} bytes wait, the oldest for ${lagMs} ms`],
    ['clock', tellOffset(clock.offsetMs)],
    ...describeDataCentres(answer),
    ...failing.map((step) => ['fails', step]),
    ...(warehouse.available ? describeWarehouse(answer) : []),
  ]
  return formatTable(['STATE', ''], facts)
}

function describeDataCentres({ dataCentres }: StatusResponse): readonly (readonly string[])[] {
  if (dataCentres === undefined) return []
  const { version, ranges, faults } = dataCentres
  const list = version === null ? 'no list yet' : `list ${version} of ${ranges} networks`
  return [['data centres', list], ...faults.map((fault) => ['not taken', fault])]
}

function tellOffset(offsetMs: number | null): string {
  if (offsetMs === null) return 'not compared yet'
  return `${Math.abs(offsetMs)} ms ${offsetMs < 0 ? 'behind' : 'ahead of'} the warehouse's`
}

function describeWarehouse(answer: StatusResponse): readonly (readonly string[])[] {
  const { sealed = [], uncounted = {}, conflicts = 0, setAside = 0 } = answer
  const { crowds = 0, misplaced = 0, retention } = answer
  return [
    ['conflicts', String(conflicts)],
    ['set aside', String(setAside)],
    ['crowds', String(crowds)],
    ['misplaced', String(misplaced)],
    ...(retention === undefined ? [] : [['retention', describeRetention(retention)]]),
    ...sealed.map(({ marketId, completeThrough }) => [
      `market ${marketId}`,
      `sealed through ${completeThrough ?? 'no day yet'}`,
    ]),
    ...Object.entries(uncounted).map(([reason, count]) => [
      `not counted: ${reason}`,
      String(count),
    ]),
  ]
}

function describeRetention({
  days,
  finalBefore,
  waitsForDay,
}: NonNullable<StatusResponse['retention']>): string {
  const final = finalBefore === null ? '' : `, days before ${finalBefore} are final`
  const waiting = waitsForDay === null ? '' : `, waits for ${waitsForDay} to be sealed`
  return `${days} days${final}${waiting}`
}
