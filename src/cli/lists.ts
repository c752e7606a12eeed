import { auditPageSchema, auditQuerySchema } from '../contract/audit.ts'
import { conflictPageSchema } from '../contract/conflicts.ts'
import { limitQuerySchema } from '../contract/fields.ts'
import { unknownIdsSchema } from '../contract/unknown-ids.ts'
import { listCommand, shownOf } from './list.ts'

export const conflicts = listCommand({
  path: '/conflicts',
  query: limitQuerySchema,
  answer: conflictPageSchema,
  rows: 'conflicts',
  empty: 'No purchase and no return was repeated with different content.',
  notes: (page) => shownOf(page.conflicts.length, page.total),
})

const notLookedAt =
  'Too many different ids were named to check them all; the least frequent were left out.'

export const unknownIds = listCommand({
  path: '/unknown-ids',
  answer: unknownIdsSchema,
  rows: 'ids',
  empty: ({ complete }) => (complete ? 'The catalog has every id.' : 'No unknown id was found.'),
  notes: ({ ids, total, complete }) => [
    ...shownOf(ids.length, total),
    ...(complete ? [] : [notLookedAt]),
  ],
})

export const audit = listCommand({
  path: '/audit',
  query: auditQuerySchema,
  answer: auditPageSchema,
  rows: 'records',
  columns: ['at', 'keyName', 'keyId', 'action', 'subject', 'details'],
  empty: 'No change is on record.',
})
