import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type Handler } from '../../http/handler.ts'
import { QueryReader } from '../../http/query-reader.ts'
import { parseJsonBody } from '../../contract/json.ts'
import { parseReplayRequest, setAsideLimits, type SetAsidePage } from '../../contract/set-aside.ts'
import type { AdminDeps } from './deps.ts'

type SetAsideDeps = Pick<AdminDeps, 'setAside'>

/** What could not be shipped: the list, and shipping it once more. */
export function createSetAsideHandlers(deps: SetAsideDeps, audit: AuditTrail) {
  return {
    listSetAside: createList(deps),
    replaySetAside: createReplay(deps, audit),
  }
}

function createList({ setAside }: SetAsideDeps): Handler {
  return async ({ query }) => {
    const reader = new QueryReader(query)
    const after = reader.optional('after', {
      rule: 'the next of the page before, unchanged',
      parse: parseCursor,
    })
    const limit = reader.limit()
    if (reader.messages.length > 0) return refuse(422, reader.messages)

    // One more than asked for tells whether there is another page.
    const found = await setAside.list({ after, limit: limit + 1 })
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    const page: SetAsidePage = {
      records: shown.map(({ place, type, receivedAtMs, reason }) => ({
        key: place.key,
        setAsideAt: new Date(Math.floor(place.atMicros / 1_000)).toISOString(),
        type,
        ...(receivedAtMs !== null && { receivedAt: new Date(receivedAtMs).toISOString() }),
        reason,
      })),
      ...(found.length > shown.length &&
        last !== undefined && { next: `${last.place.atMicros}.${last.place.key}` }),
    }
    return answerJson(200, page)
  }
}

function parseCursor(text: string): { readonly atMicros: number; readonly key: string } | null {
  const [, micros, key] = /^(\d{1,16})\.(\S{1,64})$/u.exec(text) ?? []
  return micros === undefined || key === undefined ? null : { atMicros: Number(micros), key }
}

function createReplay({ setAside }: SetAsideDeps, audit: AuditTrail): Handler {
  return async ({ key, body }) => {
    const json = parseJsonBody(body)
    const parsed = json.ok ? parseReplayRequest(json.value) : json
    if (!parsed.ok) return refuse(422, parsed.messages)

    const result = await setAside.replay(parsed.value)
    const { replayed, setAsideAgain, unknown } = result
    // A list of keys may be too long for one record; which were replayed stands in the warehouse.
    const keys = parsed.value?.slice(0, keysAudited) ?? 'all'
    await audit.record({
      key,
      action: 'set-aside.replay',
      subject: `${replayed} records`,
      details: { keys, replayed, setAsideAgain, unknown },
    })
    return answerJson(200, result)
  }
}

const keysAudited = Math.floor(2_000 / setAsideLimits.keyLengthMax)
