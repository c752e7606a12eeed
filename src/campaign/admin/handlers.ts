import type { HandlerTable } from '../../http/handler.ts'
import { answerJson } from '../../http/handler.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import { handle } from '../handle.ts'
import { createExportAudit, createReadAudit } from './audit.ts'
import { createBackupHandlers } from './backups.ts'
import { createBackfill } from './backfill.ts'
import { createCatalogHandlers } from './catalog.ts'
import { createListConflicts } from './conflicts.ts'
import { createConversionHandlers } from './conversions.ts'
import type { AdminDeps } from './deps.ts'
import { createErasureHandlers } from './erasures.ts'
import { createJudgementHandlers } from './judgements.ts'
import { createKeyHandlers } from './keys.ts'
import { createProductHandlers } from './products.ts'
import { createPutRates } from './rates.ts'
import { createReadLink } from './read-link.ts'
import { createRebuildDays } from './rebuilds.ts'
import { createSetAsideHandlers } from './set-aside.ts'
import { createMintLinks } from './tracking-links.ts'
import { createListUnconverted } from './unconverted.ts'
import { createListUnknownIds } from './unknown-ids.ts'

/** The admin API, for `buildCampaignApp`. */
export function createAdminHandlers(deps: AdminDeps): HandlerTable {
  const { audit } = deps
  return {
    ...createCatalogHandlers(deps, audit),
    ...createProductHandlers(deps, audit),
    ...createKeyHandlers(deps, audit),
    ...createMintLinks(deps, audit),
    ...createReadLink(deps),
    ...createBackfill(deps, audit),
    ...createPutRates(deps, audit),
    ...createRebuildDays(deps, audit),
    ...createListUnconverted(deps),
    ...createListConflicts(deps),
    ...createListUnknownIds(deps),
    ...createSetAsideHandlers(deps, audit),
    ...createConversionHandlers(deps, audit),
    ...createBackupHandlers(deps, audit),
    ...createErasureHandlers(deps, audit),
    ...createJudgementHandlers(deps, audit),
    ...createReadAudit(audit),
    ...createExportAudit(deps.exportAudit),
    ...handle(adminOperations.getStatus, async () => answerJson(200, await deps.status())),
    ...handle(adminOperations.getStatusHistory, async () =>
      answerJson(200, await Promise.resolve(deps.statusHistory()))
    ),
  }
}
