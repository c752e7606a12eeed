// Erasing a shopper. The ids come in here and go no further than their hashes.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import { unlessPlaceholder } from '../domain/placeholder.ts'
import {
  catalogId,
  instantText,
  int32,
  list,
  named,
  optional,
  text,
  wordOf,
  type Of,
} from './fields.ts'
import { compileParser, type Parsed } from './validate.ts'

export const erasureLimits = {
  /** Records shipped later than this after the request are no longer caught, and the hash is forgotten. */
  watchDays: 30,
  /** Each is looked at every few seconds until it is closed. A bound, not an exact one. */
  openMax: 10_000,
} as const

const id = (description: string) =>
  optional(Type.String({ minLength: 1, maxLength: 128, description }))

export const erasureRequestSchema = closed(
  named('ErasureRequest', {
    publisherId: catalogId('Ids of shoppers are known within one publisher.'),
    userId: id('As the publisher sends it, to the letter. This one, `userLoggedInId` or both.'),
    userLoggedInId: id('Of the person logged in.'),
  })
)

export const erasureStates = ['requested', 'erased', 'closed'] as const

const erasureFields = {
  id: text('Names the erasure; says nothing about the person.'),
  publisherId: int32(),
  state: wordOf(
    erasureStates,
    'requested: to be done. erased: nothing of the person is left, and what still comes out of spools ' +
      'is caught. closed: that is over, the hash is forgotten.'
  ),
  requestedAt: instantText('What was received until then is erased.'),
  erasedAt: optional(instantText('When it was done for the first time.')),
  watchedUntil: instantText('Until then what comes late is erased too.'),
}

export const erasureSchema = named('Erasure', erasureFields)

export const erasedIds = ['userId', 'userLoggedInId'] as const

export const requestedErasureSchema = named('RequestedErasure', {
  ...erasureFields,
  notStored: optional(
    list(
      wordOf(erasedIds),
      'Ids of the request under which nothing that earns or gives credit is stored now: they may be misspelt.'
    )
  ),
})

export const erasurePageSchema = named('ErasurePage', {
  erasures: list(erasureSchema, 'Newest first.'),
})

export type ErasureRequestBody = Of<typeof erasureRequestSchema>
export type Erasure = Of<typeof erasureSchema>
export type RequestedErasure = Of<typeof requestedErasureSchema>
export type ErasurePage = Of<typeof erasurePageSchema>

const parseBody = compileParser(erasureRequestSchema)

export function parseErasureRequest(body: unknown): Parsed<ErasureRequestBody> {
  const parsed = parseBody(body)
  if (!parsed.ok) return parsed
  const { userId, userLoggedInId } = parsed.value
  if (userId === undefined && userLoggedInId === undefined) {
    return { ok: false, messages: ['body must have userId, userLoggedInId or both'] }
  }
  const messages = Object.entries({ userId, userLoggedInId })
    .filter(([, value]) => value !== undefined && unlessPlaceholder(value) === '')
    .map(([name]) => `/${name} must name somebody: a placeholder is no identity`)
  return messages.length > 0 ? { ok: false, messages } : parsed
}
