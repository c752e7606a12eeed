import type { AuditPlace, AuditQuestion, AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type Handler } from '../../http/handler.ts'
import { QueryReader } from '../../http/query-reader.ts'
import { auditActions, type AuditPage } from '../../contract/audit.ts'

const keyIdLengthMax = 64

/** The record of changes, newest first, a page at a time. */
export function createReadAudit(trail: Pick<AuditTrail, 'find'>): Handler {
  return async ({ query }) => {
    const parsed = parseQuestion(query)
    if (!parsed.ok) return refuse(422, parsed.messages)
    const { question } = parsed
    // One more than asked for tells whether there is another page.
    const found = await trail.find({ ...question, limit: question.limit + 1 })
    const shown = found.slice(0, question.limit)
    const last = shown.at(-1)
    const page: AuditPage = {
      records: shown.map(({ entry }) => entry),
      ...(found.length > shown.length && last !== undefined && { next: printCursor(last.place) }),
    }
    return answerJson(200, page)
  }
}

type ParsedQuestion =
  | { readonly ok: true; readonly question: AuditQuestion }
  | { readonly ok: false; readonly messages: readonly string[] }

function parseQuestion(query: URLSearchParams): ParsedQuestion {
  const reader = new QueryReader(query)
  const question: AuditQuestion = {
    fromMs: reader.instant('from'),
    toMs: reader.instant('to'),
    action: reader.optional('action', {
      rule: `one of: ${auditActions.join(', ')}`,
      parse: parseAction,
    }),
    keyId: reader.optional('keyId', {
      rule: `an id of 1 to ${keyIdLengthMax} characters`,
      parse: parseKeyId,
    }),
    after: reader.optional('after', {
      rule: 'the next of the page before, unchanged',
      parse: parseCursor,
    }),
    limit: reader.limit(),
  }
  const { fromMs, toMs } = question
  const isTurned = fromMs !== null && toMs !== null && fromMs > toMs
  const messages = [...reader.messages, ...(isTurned ? ['from must not be after to'] : [])]
  return messages.length > 0 ? { ok: false, messages } : { ok: true, question }
}

function parseAction(text: string) {
  return auditActions.find((action) => action === text) ?? null
}

function parseKeyId(text: string): string | null {
  return text.length >= 1 && text.length <= keyIdLengthMax ? text : null
}

function printCursor({ atMicros, id }: AuditPlace): string {
  return `${atMicros}.${id}`
}

function parseCursor(text: string): AuditPlace | null {
  const [, micros, id] = /^(\d{1,16})\.([0-9a-f-]{36})$/.exec(text) ?? []
  return micros === undefined || id === undefined ? null : { atMicros: Number(micros), id }
}
