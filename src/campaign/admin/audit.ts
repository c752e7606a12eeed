import type { AuditPlace, AuditTrail } from '../../access/audit-trail.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import type { AuditPage } from '../../contract/audit.ts'
import { pageLimits } from '../../contract/fields.ts'
import { parseInstant } from '../../domain/instant.ts'
import { answerJson, type HandlerTable } from '../../http/handler.ts'
import { cutPage, handle } from '../handle.ts'

/** The record of changes, newest first, a page at a time. */
export function createReadAudit(trail: Pick<AuditTrail, 'find'>): HandlerTable {
  return handle(adminOperations.readAudit, async ({ query }) => {
    const { from, to, action = null, keyId = null, after, limit = pageLimits.default } = query
    const found = await trail.find({
      fromMs: from === undefined ? null : parseInstant(from),
      toMs: to === undefined ? null : parseInstant(to),
      action,
      keyId,
      after: after === undefined ? null : readCursor(after),
      limit: limit + 1,
    })
    const { shown, next } = cutPage(found, limit, ({ place }) => `${place.atMicros}.${place.id}`)
    const page: AuditPage = { records: shown.map(({ entry }) => entry), ...next }
    return answerJson(200, page)
  })
}

function readCursor(text: string): AuditPlace {
  const [micros = '', id = ''] = text.split('.')
  return { atMicros: Number(micros), id }
}
