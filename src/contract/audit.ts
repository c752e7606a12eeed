// The record of who changed what, and the question for it.
import { Type } from 'typebox'
import { afterParameter, instantText, limitParameter, next, wordOf, type Of } from './fields.ts'

/** Every change that is recorded, as `subject.verb`. */
export const auditActions = [
  'asset.attach',
  'backup.start',
  'catalog.put',
  'delivery.void',
  'erasure.request',
  'events.backfill',
  'key.create',
  'key.revoke',
  'links.mint',
  'products.put',
  'rates.put',
  'rebuild.request',
  'set-aside.replay',
] as const

export type AuditAction = (typeof auditActions)[number]

export const auditRecordSchema = Type.Object(
  {
    at: instantText({ description: 'When the change was made.' }),
    id: Type.String(),
    keyId: Type.String({ description: 'The key of the call.' }),
    keyName: Type.String({ description: 'Its name; empty in records older than the column.' }),
    action: Type.String({ description: 'What was done; see the list in the parameter.' }),
    subject: Type.String({ description: 'What it was done to: an id or a count.' }),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What else tells the change; never a secret.',
    }),
  },
  { title: 'AuditRecord' }
)

export const auditPageSchema = Type.Object(
  {
    records: Type.Array(auditRecordSchema, { description: 'Newest first.' }),
    next,
  },
  { title: 'AuditPage' }
)

export const auditQuerySchema = Type.Object({
  from: Type.Optional(instantText({ description: 'The first instant.' })),
  to: Type.Optional(instantText({ description: 'The first instant after the range.' })),
  action: Type.Optional(wordOf(auditActions)),
  keyId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, title: 'an id of 1 to 64 characters' })
  ),
  after: afterParameter({ pattern: String.raw`^\d{1,16}\.[0-9a-f-]{36}$` }),
  limit: limitParameter,
})

export type AuditEntry = Of<typeof auditRecordSchema>
export type AuditPage = Of<typeof auditPageSchema>
