import { statusResponseSchema, type StatusResponse } from '../contract/admin.ts'
import type { Run } from './command.ts'
import { formatTable } from './table.ts'

export const status: Run = async (context) => {
  const answer = await context.call(statusResponseSchema, { method: 'GET', path: '/status' })
  context.print(answer, describe(answer))
  return 0
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
    ...describeBelieveEverybody(answer),
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
  const { sealed = [], uncounted = {}, conflicts = 0, setAside = 0, contradictions = [] } = answer
  const { crowds = 0, misplaced = 0, retention } = answer
  return [
    ['conflicts', String(conflicts)],
    ['set aside', String(setAside)],
    ...contradictions.map(({ publisherId, rule, count, lastSetAsideAt }) => [
      `publisher ${publisherId}`,
      `${count} events set aside: ${rule}, last at ${lastSetAsideAt}`,
    ]),
    ['crowds', String(crowds)],
    ['misplaced', String(misplaced)],
    ...describeNotBelieved(answer),
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

/** The first few; the dashboard and --json have more. */
const shownMax = 5

function describeBelieveEverybody({ believeEverybody }: StatusResponse): readonly string[][] {
  if (believeEverybody === undefined || believeEverybody.total === 0) return []
  const { publishers, total } = believeEverybody
  const shown = publishers.slice(0, shownMax).map(({ id, name }) => `${id} ${name}`)
  const more = total > shown.length ? `, and ${total - shown.length} more` : ''
  return [
    ['believe everybody', `publishers without key and source list: ${shown.join(', ')}${more}`],
  ]
}

function describeNotBelieved({ notBelieved }: StatusResponse): readonly string[][] {
  if (notBelieved === undefined) return []
  const { groups, total } = notBelieved
  const shown = groups.slice(0, shownMax).map((group) => {
    const { publisherId, kind, reason, deliveries, values } = group
    const worth = values.map(({ value, currency }) => `, ${value} ${currency}`).join('')
    const span = `${group.firstReceivedAt} to ${group.lastReceivedAt}`
    return [
      'not believed',
      `publisher ${publisherId}, ${reason}: ${deliveries} ${kind}s${worth}, ${span}`,
    ]
  })
  const left = total - shown.length
  return left > 0 ? [...shown, ['not believed', `${left} more; see --json`]] : shown
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
