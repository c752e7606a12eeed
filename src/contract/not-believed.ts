// Deliveries that are not believed, summed by publisher and reason: what a publisher checks its integration
// with, and an operator sees forgeries by.
import { Type } from 'typebox'
import { disbeliefs } from './explanation.ts'
import { catalogId, count, instantText, list, named, wordOf, type Of } from './fields.ts'

export const notBelievedLimits = {
  /** In the status, most deliveries first. */
  groupsMax: 100,
  /** Publishers that are named as believing everybody. */
  publishersMax: 20,
} as const

const groupFields = {
  kind: wordOf(['conversion', 'return']),
  reason: wordOf(disbeliefs),
  deliveries: count('Repeats among them.'),
  values: list(
    Type.Object({ currency: Type.String(), value: Type.String() }),
    'Price × quantity of all their lines, by currency; a return has none.'
  ),
  firstReceivedAt: instantText(),
  lastReceivedAt: instantText(),
}

export const notBelievedSchema = named('NotBelieved', groupFields)

export const notBelievedOfAllSchema = Type.Object({
  groups: list(
    named('NotBelievedOfPublisher', { publisherId: Type.Integer(), ...groupFields }),
    `Most deliveries first, at most ${notBelievedLimits.groupsMax}.`
  ),
  total: count('How many groups there are.'),
})

export const believeEverybodySchema = Type.Object(
  {
    publishers: list(
      Type.Object({ id: catalogId(), name: Type.String() }),
      `The first ${notBelievedLimits.publishersMax}.`
    ),
    total: count('How many there are.'),
  },
  { description: 'Publishers that neither require a key nor list the addresses of their senders.' }
)

export type NotBelieved = Of<typeof notBelievedSchema>
export type NotBelievedOfAll = Of<typeof notBelievedOfAllSchema>
export type NotBelievedOfPublisher = NotBelievedOfAll['groups'][number]
export type BelieveEverybody = Of<typeof believeEverybodySchema>
