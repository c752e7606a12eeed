import { showChanges } from '../../access/audit-details.ts'
import type { AuditTrail } from '../../access/audit-trail.ts'
import { CatalogPages } from '../../catalog/catalog-pages.ts'
import { toBundle } from '../../catalog/snapshot.ts'
import { adminOperations as operations } from '../../contract/admin-operations.ts'
import type { CatalogResult } from '../../contract/catalog-bundle.ts'
import type { PageKind } from '../../contract/catalog-pages.ts'
import { pageLimits } from '../../contract/fields.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { handle, handleAt } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

const kindInPath = {
  find: ({ kind }: { readonly kind: PageKind }) => kind,
  notFound: 'There is no such kind of entries.',
}

export function createCatalogHandlers(
  { catalog }: Pick<AdminDeps, 'catalog'>,
  audit: AuditTrail
): HandlerTable {
  const pages = new CatalogPages()
  return {
    ...handle(operations.putCatalog, async ({ key, body, query: { dryRun = false } }) => {
      const applied = await (dryRun ? catalog.check(body) : catalog.apply(body))
      if (!applied.ok) return refuse('REQUEST_INVALID', applied.messages)

      const { counts } = applied
      if (dryRun) {
        const result: CatalogResult = { ...counts, dryRun }
        return answerJson(200, result)
      }
      const subject = `${counts.entries} entries, ${counts.products} products`
      const { changedCount, unchangedCount, changes } = applied.changes
      const details = { unchanged: unchangedCount, ...showChanges(changes, changedCount) }
      await audit.record({ key, action: 'catalog.put', subject, details })
      return answerJson(200, counts)
    }),
    ...handle(operations.getCatalog, () =>
      Promise.resolve(answerJson(200, toBundle(catalog.current())))
    ),
    ...handleAt(operations.listCatalogEntries, kindInPath, async ({ query }, kind) => {
      await Promise.resolve()
      const { after = null, limit = pageLimits.default } = query
      const page = pages.read(catalog.current(), { kind, after, limit })
      return page === null
        ? refuse('REQUEST_INVALID', [`after must be an id of ${kind}, as next gives it`])
        : answerJson(200, page)
    }),
  }
}
