import type { AuditPlace, AuditTrail } from '../../access/audit-trail.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import { nextHeader, type AuditPage } from '../../contract/audit.ts'
import { pageLimits } from '../../contract/fields.ts'
import { parseInstant } from '../../domain/instant.ts'
import { answerJson, type HandlerTable } from '../../http/handler.ts'
import { cutPage, handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

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
    const { shown, next } = cutPage(found, limit, ({ place }) => printCursor(place))
    const page: AuditPage = { records: shown.map(({ entry }) => entry), ...next }
    return answerJson(200, page)
  })
}

/** The same record as it is stored, for copies elsewhere and for checking the chain. */
export function createExportAudit(exportAudit: AdminDeps['exportAudit']): HandlerTable {
  return handle(adminOperations.exportAudit, async ({ query }) => {
    const { from, to, after, limit = pageLimits.default } = query
    const { records, next } = await exportAudit({
      fromMs: from === undefined ? null : parseInstant(from),
      toMs: to === undefined ? null : parseInstant(to),
      after: after === undefined ? null : readCursor(after),
      limit,
    })
    return {
      status: 200,
      headers: {
        'content-type': 'application/x-ndjson; charset=utf-8',
        ...(next !== null && { [nextHeader]: printCursor(next) }),
      },
      body: { text: records.map((record) => `${JSON.stringify(record)}\n`).join('') },
    }
  })
}

function printCursor({ atMicros, id }: AuditPlace): string {
  return `${atMicros}.${id}`
}

function readCursor(text: string): AuditPlace {
  const [micros = '', id = ''] = text.split('.')
  return { atMicros: Number(micros), id }
}
