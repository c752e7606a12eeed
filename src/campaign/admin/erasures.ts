import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type Answer, type Handler } from '../../http/handler.ts'
import { QueryReader } from '../../http/query-reader.ts'
import { erasureLimits, parseErasureRequest, type ErasurePage } from '../../contract/erasures.ts'
import { parseJsonBody } from '../../contract/json.ts'
import type { AdminDeps } from './deps.ts'

type ErasureDeps = Pick<AdminDeps, 'erasures' | 'hashIdentity'>

/** Erasing a shopper. The ids leave this file as hashes only: not to the audit, nor to any answer. */
export function createErasureHandlers(deps: ErasureDeps, audit: AuditTrail) {
  return {
    requestErasure: createRequest(deps, audit),
    getErasure: createGet(deps),
    listErasures: createList(deps),
  }
}

const tooMany: Answer = {
  ...refuse(429, [
    `at most ${erasureLimits.openMax} erasures may be open; each closes ${erasureLimits.watchDays} days after its request`,
  ]),
  headers: { 'retry-after': '86400' },
}

function createRequest({ erasures, hashIdentity }: ErasureDeps, audit: AuditTrail): Handler {
  return async ({ key, body }) => {
    const json = parseJsonBody(body)
    const parsed = json.ok ? parseErasureRequest(json.value) : json
    if (!parsed.ok) return refuse(422, parsed.messages)
    const { publisherId, userId = '', userLoggedInId = '' } = parsed.value
    const identities = [
      hashIdentity('user', publisherId, userId),
      hashIdentity('login', publisherId, userLoggedInId),
    ].filter((identity) => identity !== '')
    if ((await erasures.countOpen()) >= erasureLimits.openMax) return tooMany
    const erasure = await erasures.request({ publisherId, identities })
    const details = { publisherId, ids: identities.length }
    await audit.record({ key, action: 'erasure.request', subject: erasure.id, details })
    return answerJson(202, erasure)
  }
}

function createGet({ erasures }: ErasureDeps): Handler {
  return async ({ pathParameters }) => {
    const erasure = await erasures.find(pathParameters['id'] ?? '')
    return erasure === null ? refuse(404, ['no such erasure']) : answerJson(200, erasure)
  }
}

function createList({ erasures }: ErasureDeps): Handler {
  return async ({ query }) => {
    const reader = new QueryReader(query)
    const limit = reader.limit()
    if (reader.messages.length > 0) return refuse(422, reader.messages)
    const page: ErasurePage = { erasures: await erasures.list(limit) }
    return answerJson(200, page)
  }
}
