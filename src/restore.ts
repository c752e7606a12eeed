// Composition root of `shelftrace restore`, which runs without a service. The data folder and the
// secrets come from the configuration, as for the node that is started there afterwards.

import { existsSync } from 'node:fs'
import { deriveProofKey } from './backup/manifest.ts'
import { restoreBackup } from './backup/restore.ts'
import type { RestoreOptions } from './backup/restore.ts'
import { parseConfig } from './config.ts'
import { ServiceError } from './errors.ts'
import { claimDataFolder } from './processes/data-folder.ts'
import { leaveUnusableFolder } from './processes/unusable-folder.ts'
import { readSecretsFile } from './secrets.ts'

export interface Restored {
  readonly dataDir: string
  readonly takenAt: string
  readonly fileCount: number
  readonly rowCount: number
}

/** Throws CONFIG_INVALID and BACKUP_INVALID; see `restoreBackup`. */
export async function runRestore(
  environment: Readonly<Record<string, string | undefined>>,
  options: Pick<RestoreOptions, 'source' | 'acceptsUnsigned' | 'onProgress'>
): Promise<Restored> {
  const { dataDir, secretsFile, warehouseUrls } = parseConfig(environment)
  if (warehouseUrls !== null) {
    throw new ServiceError(
      'CONFIG_INVALID',
      'SHELFTRACE_WAREHOUSE_URL is set: restore a ClickHouse server with the tools of ClickHouse'
    )
  }
  if (!existsSync(secretsFile)) {
    throw new ServiceError(
      'CONFIG_INVALID',
      `a backup contains no secrets: first put your copy of secrets.json at ${secretsFile} ` +
        '(SHELFTRACE_SECRETS_FILE), mode 0600'
    )
  }
  const { identitySecret, identityFingerprint, keyRing } = readSecretsFile(secretsFile)
  leaveUnusableFolder()
  const folder = await claimDataFolder(dataDir)
  try {
    const manifest = await restoreBackup({
      ...options,
      dataDir,
      secretsFile,
      identityFingerprint,
      trackingKeyIds: keyRing.keys.map(({ id }) => id),
      proofKey: deriveProofKey(identitySecret),
    })
    return {
      dataDir,
      takenAt: manifest.takenAt,
      fileCount: manifest.fileCount,
      rowCount: manifest.tables.reduce((sum, table) => sum + table.rowCount, 0),
    }
  } finally {
    folder.release()
  }
}
