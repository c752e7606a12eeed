import { pageLimits } from '../../contract/fields.ts'
import { upkeepOperations } from '../../contract/upkeep-operations.ts'
import { answerJson, type HandlerTable } from '../../http/handler.ts'
import { handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

/** Purchases and returns whose deliveries differ. */
export function createListConflicts({
  readConflicts,
}: Pick<AdminDeps, 'readConflicts'>): HandlerTable {
  return handle(upkeepOperations.listConflicts, async ({ query: { limit = pageLimits.default } }) =>
    answerJson(200, await readConflicts(limit))
  )
}
