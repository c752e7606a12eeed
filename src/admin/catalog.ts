import type { AuditTrail } from '../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../access/handler.ts'
import { toBundle } from '../catalog/snapshot.ts'
import { parseCatalogBundle } from '../contract/catalog-bundle.ts'
import { parseJsonBody } from '../contract/json.ts'
import type { AdminDeps } from './deps.ts'

export function createCatalogHandlers(
  { catalog }: Pick<AdminDeps, 'catalog'>,
  audit: AuditTrail
): HandlerTable {
  return {
    putCatalog: async ({ key, body }) => {
      const json = parseJsonBody(body)
      if (!json.ok) return refuse(422, json.messages)
      const bundle = parseCatalogBundle(json.value)
      if (!bundle.ok) return refuse(422, bundle.messages)
      const applied = await catalog.apply(bundle.value)
      if (!applied.ok) return refuse(422, applied.messages)

      const { counts } = applied
      const subject = `${counts.entries} entries, ${counts.products} products`
      await audit.record({ key, action: 'catalog.put', subject })
      return answerJson(200, counts)
    },
    getCatalog: () => Promise.resolve(answerJson(200, toBundle(catalog.current()))),
  }
}
