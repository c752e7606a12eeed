// The record of who changed what, and the question for it.
import { Type } from 'typebox'
import {
  afterParameter,
  count,
  instantText,
  limitParameter,
  list,
  named,
  next,
  optional,
  text,
  wordOf,
  type Of,
} from './fields.ts'

/** Every change that is recorded, as `subject.verb`. */
export const auditActions = [
  'asset.attach',
  'backup.start',
  'catalog.put',
  'delivery.unvoid',
  'delivery.void',
  'erasure.request',
  'events.backfill',
  'judgement.done',
  'judgement.request',
  'key.accept',
  'key.admit',
  'key.create',
  'key.invite',
  'key.revoke',
  'links.mint',
  'products.put',
  'rates.put',
  'rebuild.request',
  'set-aside.replay',
] as const

export type AuditAction = (typeof auditActions)[number]

export const auditRecordSchema = named('AuditRecord', {
  at: instantText('When the change was made.'),
  id: Type.String(),
  keyId: text('The key of the call.'),
  keyName: text('Its name; empty in records older than the column.'),
  action: text('What was done; the parameter `action` lists the words.'),
  subject: text('What it was done to: an id or a count.'),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description: 'More about the change; never a secret.',
  }),
})

export const auditPageSchema = named('AuditPage', {
  records: list(auditRecordSchema, 'Newest first.'),
  next,
})

export const auditQuerySchema = Type.Object({
  from: optional(instantText('The first instant.')),
  to: optional(instantText('The first instant after the range.')),
  action: optional(wordOf(auditActions)),
  keyId: optional(
    Type.String({ minLength: 1, maxLength: 64, title: 'an id of 1 to 64 characters' })
  ),
  after: afterParameter({ pattern: String.raw`^\d{1,16}\.[0-9a-f-]{36}$` }),
  limit: limitParameter,
})

const sha256 = String.raw`^([0-9a-f]{64})?$`

/** A line of the export: the record with its place in the chain. */
export const auditLineSchema = named('AuditLine', {
  at: instantText('When the change was made, to the microsecond.'),
  id: Type.String(),
  keyId: Type.String(),
  keyName: Type.String(),
  action: Type.String(),
  subject: Type.String(),
  details: text('The JSON text of the details, exactly as it was hashed.'),
  writer: text('Whose chain it is; empty in records from before the chain.'),
  sequence: count('From 1 in each chain, without gaps.'),
  previousHash: Type.String({ pattern: sha256, description: 'The hash of the record before.' }),
  heads: list(Type.String(), 'The ends of other chains: writer:sequence:hash.'),
  hash: Type.String({ pattern: sha256, description: 'SHA-256 as docs/audit.md describes it.' }),
})

export const auditExportQuerySchema = Type.Object({
  from: auditQuerySchema.properties.from,
  to: auditQuerySchema.properties.to,
  after: auditQuerySchema.properties.after,
  limit: limitParameter,
})

/** Carries the cursor of the next page; absent on the last one. */
export const nextHeader = 'x-next'

export type AuditEntry = Of<typeof auditRecordSchema>
export type AuditPage = Of<typeof auditPageSchema>
