// Records that could not be shipped: the list of them, and shipping them once more.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import {
  afterParameter,
  count,
  flag,
  instantText,
  int32,
  limitParameter,
  list,
  named,
  next,
  optional,
  text,
  type Of,
} from './fields.ts'
import { compileParser, type Parsed } from './validate.ts'

export const setAsideLimits = {
  /** Keys of one call, and the records that a call without keys ships at most. */
  replayMax: 1_000,
  keyLengthMax: 64,
  reasonLengthMax: 300,
} as const

export const setAsidePageSchema = named('SetAsidePage', {
  records: list(
    named('SetAsideRecord', {
      key: text('Names the record; for replaying it.'),
      setAsideAt: instantText('When it was set aside last.'),
      type: text(
        'The kind of record, such as conversion or ad-event; frame: a damaged piece of the spool; ' +
          'purchase: one that could not be attributed, and keeps the credit it had.'
      ),
      receivedAt: optional(instantText('When the event came; absent where that cannot be read.')),
      reason: text('Why it could not be shipped or attributed, at most 300 characters.'),
      publisherId: optional(int32('Of an ad event that contradicts the catalog.')),
      rule: optional(text('The rule of the catalog that it breaks.')),
    }),
    'Oldest first.'
  ),
  next,
})

export const setAsideQuerySchema = Type.Object({
  after: afterParameter({ pattern: String.raw`^\d{1,16}\.\S{1,64}$` }),
  limit: limitParameter,
})

export const replayRequestSchema = closed(
  named('ReplayRequest', {
    keys: optional(
      Type.Array(Type.String({ minLength: 1, maxLength: setAsideLimits.keyLengthMax }), {
        minItems: 1,
        maxItems: setAsideLimits.replayMax,
        description: 'As listed. Either these or `all`.',
      })
    ),
    all: optional(flag(`true: the oldest ${setAsideLimits.replayMax} records that wait.`)),
  })
)

export const replayResultSchema = named('ReplayResult', {
  replayed: count('Records that are shipped now; they have left the list.'),
  setAsideAgain: count(
    'Records that were refused again; they are in the list with the new reason.'
  ),
  unknown: count('Keys under which nothing waits.'),
  remaining: count('Records that still wait, those refused again among them.'),
})

export type SetAsidePage = Of<typeof setAsidePageSchema>
export type ReplayResult = Of<typeof replayResultSchema>

/** Null: all. */
export type ReplayKeys = readonly string[] | null

const parseBody = compileParser(replayRequestSchema)

export function parseReplayRequest(body: unknown): Parsed<ReplayKeys> {
  const parsed = parseBody(body)
  if (!parsed.ok) return parsed
  const { keys, all } = parsed.value
  if (keys !== undefined && all !== true) return { ok: true, value: keys }
  if (keys === undefined && all === true) return { ok: true, value: null }
  return { ok: false, messages: ['body must have either keys or all, which must be true'] }
}
