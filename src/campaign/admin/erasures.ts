import type { AuditTrail } from '../../access/audit-trail.ts'
import { erasureLimits, type ErasurePage } from '../../contract/erasures.ts'
import { pageLimits } from '../../contract/fields.ts'
import { upkeepOperations as operations } from '../../contract/upkeep-operations.ts'
import { answerJson, refuse, type Answer, type HandlerTable } from '../../http/handler.ts'
import { handle, handleAt } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

type ErasureDeps = Pick<AdminDeps, 'erasures' | 'hashIdentity'>

const tooMany: Answer = {
  ...refuse('OPEN_REQUESTS_EXCEEDED', [
    `at most ${erasureLimits.openMax} erasures may be open; each closes ${erasureLimits.watchDays} days after its request`,
  ]),
  headers: { 'retry-after': '86400' },
}

/** Erasing a shopper. The ids leave this file only as hashes: neither the audit nor any answer has them. */
export function createErasureHandlers(
  { erasures, hashIdentity }: ErasureDeps,
  audit: AuditTrail
): HandlerTable {
  const erasureInPath = {
    find: ({ id }: { readonly id: string }) => erasures.find(id),
    notFound: 'There is no such erasure.',
  }
  return {
    ...handle(operations.requestErasure, async ({ key, body }) => {
      const { publisherId, userId = '', userLoggedInId = '' } = body
      const hashes = [
        ['userId', hashIdentity('user', publisherId, userId)],
        ['userLoggedInId', hashIdentity('login', publisherId, userLoggedInId)],
      ] as const
      const given = hashes.filter(([, identity]) => identity !== '')
      const identities = given.map(([, identity]) => identity)
      if ((await erasures.countOpen()) >= erasureLimits.openMax) return tooMany
      const stored = await erasures.findStored({ publisherId, identities })
      const erasure = await erasures.request({ publisherId, identities })
      const details = { publisherId, ids: identities.length }
      await audit.record({ key, action: 'erasure.request', subject: erasure.id, details })
      const notStored = given.filter(([, identity]) => !stored.has(identity)).map(([name]) => name)
      return answerJson(202, { ...erasure, notStored })
    }),
    ...handleAt(operations.getErasure, erasureInPath, (_call, erasure) =>
      Promise.resolve(answerJson(200, erasure))
    ),
    ...handle(operations.listErasures, async ({ query: { limit = pageLimits.default } }) => {
      const page: ErasurePage = { erasures: await erasures.list(limit) }
      return answerJson(200, page)
    }),
  }
}
