import { answerJson, refuse, type Handler } from '../../http/handler.ts'
import { QueryReader } from '../../http/query-reader.ts'
import type { AdminDeps } from './deps.ts'

/** Purchases and returns whose deliveries differ. */
export function createListConflicts({ readConflicts }: Pick<AdminDeps, 'readConflicts'>): Handler {
  return async ({ query }) => {
    const reader = new QueryReader(query)
    const limit = reader.limit()
    if (reader.messages.length > 0) return refuse(422, reader.messages)
    return answerJson(200, await readConflicts(limit))
  }
}
