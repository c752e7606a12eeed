// Purchases and returns that were delivered with different content: the list, and the question for it.
import { Type } from 'typebox'
import { count, instantText, int32, wordOf, type Of } from './fields.ts'

export const conflictPageSchema = Type.Object(
  {
    conflicts: Type.Array(
      Type.Object(
        {
          kind: wordOf(['purchase', 'return']),
          publisherId: int32(),
          transactionId: Type.String({ description: 'Of the purchase, as it was sent.' }),
          returnId: Type.Optional(
            Type.String({ description: 'Of a return only, as it was sent.' })
          ),
          deliveries: count('Deliveries of the last 30 days, those that are void too.'),
          voidDeliveries: count('How many of them are void; 0 for a return.'),
          firstReceivedAt: instantText({ description: 'Receipt of the earliest of them.' }),
          lastReceivedAt: instantText({ description: 'Receipt of the latest of them.' }),
        },
        { title: 'Conflict' }
      ),
      { description: 'By their latest receipt, newest first.' }
    ),
    total: count('All conflicts, listed or not: `conflicts` of the status.'),
  },
  { title: 'ConflictPage' }
)

export type ConflictPage = Of<typeof conflictPageSchema>
export type Conflict = ConflictPage['conflicts'][number]
