import type { AuditTrail } from '../../access/audit-trail.ts'
import type { BackupList } from '../../contract/backups.ts'
import { upkeepOperations } from '../../contract/upkeep-operations.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

const notHere =
  'The warehouse is a ClickHouse server: back it up by its own means, as the operator guide says.'

export function createBackupHandlers(
  { backups }: Pick<AdminDeps, 'backups'>,
  audit: AuditTrail
): HandlerTable {
  return {
    ...handle(upkeepOperations.createBackup, async ({ key, body }) => {
      if (backups === null) return refuse('BACKUP_IMPOSSIBLE', [notHere])
      const result = backups.start(body.name)
      switch (result.kind) {
        case 'running':
          return refuse('BACKUP_RUNNING', ['Another backup is running; one at a time.'])
        case 'taken':
          return refuse('BACKUP_NAME_TAKEN', ['/name must be new: there is a folder of that name'])
        case 'unwritable':
          return refuse('BACKUP_IMPOSSIBLE', [
            `SHELFTRACE_BACKUP_DIR cannot be written (${codeOf(result.cause)})`,
          ])
        case 'started': {
          const { backup } = result
          await audit.record({ key, action: 'backup.start', subject: backup.name })
          return answerJson(202, backup)
        }
      }
    }),
    ...handle(upkeepOperations.listBackups, async () => {
      await Promise.resolve()
      const list: BackupList = { backups: backups?.list() ?? [] }
      return answerJson(200, list)
    }),
  }
}

/** The code alone: the message of the system names paths. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
