import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { CatalogPages } from '../../catalog/catalog-pages.ts'
import { toBundle } from '../../catalog/snapshot.ts'
import { parseCatalogBundle, type CatalogResult } from '../../contract/catalog-bundle.ts'
import { pageKinds } from '../../contract/catalog-pages.ts'
import { parseJsonBody } from '../../contract/json.ts'
import type { AdminDeps } from './deps.ts'
import { QueryReader } from '../../http/query-reader.ts'

export function createCatalogHandlers(
  { catalog }: Pick<AdminDeps, 'catalog'>,
  audit: AuditTrail
): HandlerTable {
  const pages = new CatalogPages()
  return {
    putCatalog: async ({ key, body, query }) => {
      const options = new QueryReader(query)
      const dryRun = options.flag('dryRun')
      if (options.messages.length > 0) return refuse(422, options.messages)
      const json = parseJsonBody(body)
      if (!json.ok) return refuse(422, json.messages)
      const bundle = parseCatalogBundle(json.value)
      if (!bundle.ok) return refuse(422, bundle.messages)
      const applied = await (dryRun ? catalog.check(bundle.value) : catalog.apply(bundle.value))
      if (!applied.ok) return refuse(422, applied.messages)

      const { counts } = applied
      if (dryRun) {
        const result: CatalogResult = { ...counts, dryRun }
        return answerJson(200, result)
      }
      const subject = `${counts.entries} entries, ${counts.products} products`
      await audit.record({ key, action: 'catalog.put', subject })
      return answerJson(200, counts)
    },
    getCatalog: () => Promise.resolve(answerJson(200, toBundle(catalog.current()))),
    listCatalogEntries: async ({ pathParameters, query }) => {
      await Promise.resolve()
      const kind = pageKinds.find((known) => known === pathParameters['kind'])
      if (kind === undefined) return refuse(404, ['There is no such kind of entries.'])
      const options = new QueryReader(query)
      const after = options.text('after', 60)
      const limit = options.limit()
      if (options.messages.length > 0) return refuse(422, options.messages)
      const page = pages.read(catalog.current(), { kind, after, limit })
      return page === null
        ? refuse(422, [`after must be an id of ${kind}, as next gives it`])
        : answerJson(200, page)
    },
  }
}
