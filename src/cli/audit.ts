import { auditActions, auditPageSchema, auditQuerySchema } from '../contract/audit.ts'
import { listCommand } from './list.ts'

export const audit = listCommand({
  name: 'audit',
  summary: `Show who changed what, newest first. Actions: ${auditActions.join(', ')}`,
  path: '/audit',
  query: auditQuerySchema,
  answer: auditPageSchema,
  rows: 'records',
  columns: ['at', 'keyName', 'keyId', 'action', 'subject', 'details'],
  empty: 'No change is on record.',
})
