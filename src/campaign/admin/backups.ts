import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type Handler } from '../../http/handler.ts'
import { parseBackupRequest, type BackupList } from '../../contract/backups.ts'
import { parseJsonBody } from '../../contract/json.ts'
import type { AdminDeps } from './deps.ts'

type BackupDeps = Pick<AdminDeps, 'backups'>

export function createBackupHandlers(deps: BackupDeps, audit: AuditTrail) {
  return {
    createBackup: createStart(deps, audit),
    listBackups: createList(deps),
  }
}

const notHere =
  'The warehouse is a ClickHouse server: back it up by its own means, as the operator guide says.'

function createStart({ backups }: BackupDeps, audit: AuditTrail): Handler {
  return async ({ key, body }) => {
    const json = parseJsonBody(body)
    const parsed = json.ok ? parseBackupRequest(json.value) : json
    if (!parsed.ok) return refuse(422, parsed.messages)
    if (backups === null) return refuse(409, [notHere])

    const result = backups.start(parsed.value.name)
    switch (result.kind) {
      case 'running':
        return refuse(409, ['Another backup is running; one at a time.'])
      case 'taken':
        return refuse(409, ['/name must be new: there is a folder of that name'])
      case 'unwritable':
        return refuse(409, [`SHELFTRACE_BACKUP_DIR cannot be written (${codeOf(result.cause)})`])
      case 'started': {
        const { backup } = result
        await audit.record({ key, action: 'backup.start', subject: backup.name })
        return answerJson(202, backup)
      }
    }
  }
}

/** The message of the system would name paths. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}

function createList({ backups }: BackupDeps): Handler {
  return async () => {
    await Promise.resolve()
    const list: BackupList = { backups: backups?.list() ?? [] }
    return answerJson(200, list)
  }
}
