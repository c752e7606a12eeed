import { conflictPageSchema, type ConflictPage } from '../contract/conflicts.ts'
import { unknownIdsSchema, type UnknownIds } from '../contract/unknown-ids.ts'
import type { Command } from './context.ts'
import { readPageLimit } from './page-limit.ts'
import { readAs } from './read-as.ts'
import { formatTable } from './table.ts'

const readConflicts = readAs(conflictPageSchema)
const readUnknownIds = readAs(unknownIdsSchema)

export const conflicts: Command = {
  name: 'conflicts',
  usage: '[--limit N]',
  summary: 'List the purchases and returns of the last 30 days whose deliveries differ',
  options: { limit: { type: 'string' } },
  positionalCount: 0,
  run: async (context) => {
    const limit = readPageLimit(context.options)
    const path = limit === null ? '/conflicts' : `/conflicts?limit=${limit}`
    const page = readConflicts(await context.client().call({ method: 'GET', path }))
    context.print(page, describeConflicts(page))
    return 0
  },
}

function describeConflicts({ conflicts: listed, total }: ConflictPage): string {
  if (listed.length === 0) return 'No purchase and no return was repeated with other content.'
  const header = [
    'PUBLISHER',
    'TRANSACTION',
    'RETURN',
    'DELIVERIES',
    'VOID',
    'FIRST RECEIPT',
    'LAST RECEIPT',
  ]
  const rows = listed.map((conflict) => [
    String(conflict.publisherId),
    conflict.transactionId,
    conflict.returnId ?? '-',
    String(conflict.deliveries),
    String(conflict.voidDeliveries),
    conflict.firstReceivedAt,
    conflict.lastReceivedAt,
  ])
  return withRest(formatTable(header, rows), { shown: listed.length, total })
}

export const unknownIds: Command = {
  name: 'unknown-ids',
  usage: '',
  summary: 'List the ids that events of the last 30 days name and the catalog does not have',
  options: {},
  positionalCount: 0,
  run: async (context) => {
    const call = { method: 'GET', path: '/unknown-ids' } as const
    const found = readUnknownIds(await context.client().call(call))
    context.print(found, describeUnknownIds(found))
    return 0
  },
}

function describeUnknownIds({ ids, total, complete }: UnknownIds): string {
  const rest = complete
    ? ''
    : '\nSo many different ids were named that those named least were not looked at.'
  if (ids.length === 0) {
    return complete ? 'The catalog has every id.' : `No unknown id was found.${rest}`
  }
  const rows = ids.map(({ kind, id, parentId, events, conversions }) => [
    kind,
    String(id),
    parentId === undefined ? '-' : String(parentId),
    String(events),
    conversions === undefined ? '-' : String(conversions),
  ])
  const table = formatTable(['KIND', 'ID', 'OF', 'EVENTS', 'CONVERSIONS'], rows)
  return `${withRest(table, { shown: ids.length, total })}${rest}`
}

/** A list that is cut says so. */
function withRest(
  table: string,
  { shown, total }: { readonly shown: number; readonly total: number }
): string {
  return total > shown ? `${table}\n${shown} of ${total} are shown.` : table
}
