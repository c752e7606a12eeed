// Backups of a node whose warehouse runs in process: the request for one, and the list of them.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import { count, instantText, wordOf, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

/** The name of a folder, which cannot lead anywhere else. */
export const backupNamePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'

export const backupRequestSchema = closed(
  Type.Object(
    {
      name: Type.Optional(
        Type.String({
          pattern: backupNamePattern,
          description:
            'Of its folder in SHELFTRACE_BACKUP_DIR: letters, digits, _ and -, at most 64. The instant in UTC when absent.',
        })
      ),
    },
    { title: 'BackupRequest' }
  )
)

export const backupSchema = Type.Object(
  {
    name: Type.String(),
    folder: Type.String({ description: 'On the machine of the engine.' }),
    state: wordOf(['running', 'complete', 'failed', 'incomplete'], {
      description:
        'complete: its manifest is written. failed: broken off since the start of the engine, with the reason. ' +
        'incomplete: without a manifest, from before.',
    }),
    takenAt: Type.Optional(
      instantText({ description: 'All that was acknowledged before is in it.' })
    ),
    bytes: Type.Optional(count('Copied so far.')),
    bytesTotal: Type.Optional(Type.Integer({ minimum: 0 })),
    reason: Type.Optional(Type.String({ description: 'Why it failed.' })),
  },
  { title: 'Backup' }
)

export const backupListSchema = Type.Object(
  {
    backups: Type.Array(backupSchema, {
      description: 'By name; at most 1000.',
    }),
  },
  { title: 'BackupList' }
)

export type Backup = Of<typeof backupSchema>
export type BackupList = Of<typeof backupListSchema>

export const parseBackupRequest = compileParser(backupRequestSchema)
