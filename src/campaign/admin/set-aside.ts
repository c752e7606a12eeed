import type { AuditTrail } from '../../access/audit-trail.ts'
import { pageLimits } from '../../contract/fields.ts'
import { setAsideLimits, type SetAsidePage } from '../../contract/set-aside.ts'
import { upkeepOperations as operations } from '../../contract/upkeep-operations.ts'
import { printInstant } from '../../domain/instant.ts'
import { answerJson, type HandlerTable } from '../../http/handler.ts'
import { cutPage, handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

/** A list of keys may be too long for one record; the warehouse knows which were replayed. */
const keysAudited = Math.floor(2_000 / setAsideLimits.keyLengthMax)

/** Records that could not be shipped: their list, and shipping them once more. */
export function createSetAsideHandlers(
  { setAside }: Pick<AdminDeps, 'setAside'>,
  audit: AuditTrail
): HandlerTable {
  return {
    ...handle(operations.listSetAside, async ({ query: { after, limit = pageLimits.default } }) => {
      const place = after === undefined ? null : readCursor(after)
      const found = await setAside.list({ after: place, limit: limit + 1 })
      const { shown, next } = cutPage(found, limit, (last) => printCursor(last.place))
      const page: SetAsidePage = {
        records: shown.map(printRecord),
        ...next,
      }
      return answerJson(200, page)
    }),
    ...handle(operations.replaySetAside, async ({ key, body }) => {
      const result = await setAside.replay(body)
      const { replayed, setAsideAgain, unknown } = result
      const keys = body?.slice(0, keysAudited) ?? 'all'
      await audit.record({
        key,
        action: 'set-aside.replay',
        subject: `${replayed} records`,
        details: { keys, replayed, setAsideAgain, unknown },
      })
      return answerJson(200, result)
    }),
  }
}

type Found = Awaited<ReturnType<AdminDeps['setAside']['list']>>[number]

function printRecord({
  place,
  type,
  receivedAtMs,
  reason,
  contradiction,
}: Found): SetAsidePage['records'][number] {
  return {
    key: place.key,
    setAsideAt: printInstant(Math.floor(place.atMicros / 1_000)),
    type,
    ...(receivedAtMs !== null && { receivedAt: printInstant(receivedAtMs) }),
    reason,
    ...contradiction,
  }
}

interface Place {
  readonly atMicros: number
  readonly key: string
}

function printCursor({ atMicros, key }: Place): string {
  return `${atMicros}.${key}`
}

function readCursor(text: string): Place {
  const dot = text.indexOf('.')
  return { atMicros: Number(text.slice(0, dot)), key: text.slice(dot + 1) }
}
