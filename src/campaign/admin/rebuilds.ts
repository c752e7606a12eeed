import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import { handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

/** Asks for days to be attributed and sealed again; the pipeline does it. */
export function createRebuildDays(
  { rebuildDays }: Pick<AdminDeps, 'rebuildDays'>,
  audit: AuditTrail
): HandlerTable {
  return handle(adminOperations.rebuildDays, async ({ key, body }) => {
    const { startDate, endDate } = body
    const result = await rebuildDays({ firstDay: startDate, lastDay: endDate })
    if (result.kind === 'final') {
      return refuse('DAYS_FINAL', [
        `/startDate must not be before ${result.finalBefore}: older days are final, their events are dropped`,
      ])
    }
    const purchases = result.purchaseCount
    const subject = `${startDate} to ${endDate}`
    await audit.record({ key, action: 'rebuild.request', subject, details: { purchases } })
    return answerJson(202, { purchases })
  })
}
