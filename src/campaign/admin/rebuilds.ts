import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import { daysBetween } from '../../domain/day.ts'
import { handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

/** A year and a month: what is kept at all, and what an engine can do again overnight. */
const daysMax = 400
/** No event lies outside of these: tokens are served between 2020 and 2100. */
const dayMin = '2020-01-01'
const dayMax = '2100-12-31'

/** Asks for days to be attributed and sealed again; the pipeline does it. */
export function createRebuildDays(
  { rebuildDays }: Pick<AdminDeps, 'rebuildDays'>,
  audit: AuditTrail
): HandlerTable {
  return handle(adminOperations.rebuildDays, async ({ key, body }) => {
    const { startDate, endDate } = body
    if (startDate < dayMin || endDate > dayMax) {
      return refuse(422, [`/startDate and endDate must lie between ${dayMin} and ${dayMax}`])
    }
    const dayCount = daysBetween(startDate, endDate) + 1
    if (dayCount < 1) return refuse(422, ['/endDate must not be before startDate'])
    if (dayCount > daysMax) return refuse(422, [`/endDate must be at most ${daysMax} days later`])

    const result = await rebuildDays({ firstDay: startDate, lastDay: endDate })
    if (result.kind === 'final') {
      return refuse(422, [
        `/startDate must not be before ${result.finalBefore}: older days are final, their events are dropped`,
      ])
    }
    const purchases = result.purchaseCount
    const subject = `${startDate} to ${endDate}`
    await audit.record({ key, action: 'rebuild.request', subject, details: { purchases } })
    return answerJson(202, { purchases })
  })
}
