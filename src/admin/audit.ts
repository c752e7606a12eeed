import type { AuditPlace, AuditQuestion, AuditTrail } from '../access/audit-trail.ts'
import { answerJson, refuse, type Handler } from '../access/handler.ts'
import { parseInt32Text, queryText } from '../access/query-text.ts'
import { auditActions, auditLimits, type AuditPage } from '../contract/audit.ts'
import { parseInstant } from '../contract/instant.ts'

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
  const messages: string[] = []
  /** Null when absent; when it breaks its rule too, beside a message. */
  const read = <Value>(
    name: string,
    rule: string,
    parse: (text: string) => Value | null
  ): Value | null => {
    const value = queryText(query, name)
    if (value.kind === 'absent') return null
    if (value.kind === 'repeated') {
      messages.push(`${name} must be given once`)
      return null
    }
    const parsed = parse(value.text)
    if (parsed === null) messages.push(`${name} must be ${rule}`)
    return parsed
  }

  const instantRule = 'an instant such as 2026-03-01T00:00:00Z'
  const { limitDefault, limitMax } = auditLimits
  const question: AuditQuestion = {
    fromMs: read('from', instantRule, parseInstant),
    toMs: read('to', instantRule, parseInstant),
    action: read('action', `one of: ${auditActions.join(', ')}`, parseAction),
    keyId: read('keyId', `an id of 1 to ${keyIdLengthMax} characters`, parseKeyId),
    after: read('after', 'the next of the page before, unchanged', parseCursor),
    limit:
      read('limit', `an integer from 1 to ${limitMax}`, (text) => {
        const limit = parseInt32Text(text)
        return limit !== null && limit >= 1 && limit <= limitMax ? limit : null
      }) ?? limitDefault,
  }
  if (question.fromMs !== null && question.toMs !== null && question.fromMs > question.toMs) {
    messages.push('from must not be after to')
  }
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
