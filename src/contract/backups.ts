// Backups of a node whose warehouse runs in process: the request for one, and the list of them.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import { count, instantText, list, named, optional, text, wordOf, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

/** The name of a folder, which cannot lead anywhere else. */
export const backupNamePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'

export const backupRequestSchema = closed(
  named('BackupRequest', {
    name: optional(
      Type.String({
        pattern: backupNamePattern,
        title: 'a name of at most 64 letters, digits, _ and -',
        description:
          'The name of its folder in SHELFTRACE_BACKUP_DIR: letters, digits, _ and -, at most 64. The instant in UTC when absent.',
      })
    ),
  })
)

export const backupSchema = named('Backup', {
  name: Type.String(),
  folder: text('On the machine of the engine.'),
  state: wordOf(
    ['running', 'complete', 'failed', 'incomplete'],
    'complete: its manifest is written. failed: broken off since the start of the engine, with the reason. ' +
      'incomplete: without a manifest, from before.'
  ),
  takenAt: optional(instantText('All that was acknowledged before is in it.')),
  bytes: optional(count('Copied so far.')),
  bytesTotal: optional(Type.Integer({ minimum: 0 })),
  reason: optional(text('Why it failed.')),
})

export const backupListSchema = named('BackupList', {
  backups: list(backupSchema, 'By name; at most 1000.'),
})

export type Backup = Of<typeof backupSchema>
export type BackupList = Of<typeof backupListSchema>

export const parseBackupRequest = compileParser(backupRequestSchema)
