// Purchases and returns that were delivered with different content: the list, and the question for it.
import {
  count,
  instantText,
  int32,
  list,
  named,
  optional,
  text,
  wordOf,
  type Of,
} from './fields.ts'

export const conflictPageSchema = named('ConflictPage', {
  conflicts: list(
    named('Conflict', {
      kind: wordOf(['purchase', 'return']),
      publisherId: int32(),
      transactionId: text('Of the purchase, as it was sent.'),
      returnId: optional(text('Of a return only, as it was sent.')),
      deliveries: count('Deliveries of the last 30 days, those that are void too.'),
      voidDeliveries: count('How many of them are void.'),
      firstReceivedAt: instantText('Receipt of the earliest of them.'),
      lastReceivedAt: instantText('Receipt of the latest of them.'),
    }),
    'By their latest receipt, newest first.'
  ),
  total: count('All conflicts, listed or not: `conflicts` of the status.'),
})

export type ConflictPage = Of<typeof conflictPageSchema>
export type Conflict = ConflictPage['conflicts'][number]
