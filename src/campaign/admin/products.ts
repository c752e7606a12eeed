import type { Readable } from 'node:stream'
import type { AuditTrail } from '../../access/audit-trail.ts'
import { adminOperations as operations } from '../../contract/admin-operations.ts'
import { pageLimits } from '../../contract/fields.ts'
import type { ProductPage } from '../../contract/products.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { handleAt } from '../handle.ts'
import type { AdminDeps } from './deps.ts'
import { delimiterSaid, parseHeader } from './feed/feed-header.ts'
import type { Delimiter } from './feed/feed-fields.ts'
import { RowReader } from './feed/feed-rows.ts'
import { ProductFeed } from './feed/product-feed.ts'
import { readLines, withoutByteOrderMark, type Line } from './line-reader.ts'

/**
 * A merchant feed of any length in flat memory. What was taken stays, also from a feed that breaks off:
 * each product is true by itself, and loading the feed again replaces it. Only the end of a whole feed
 * deactivates anything.
 */
export function createProductHandlers(
  { catalog }: Pick<AdminDeps, 'catalog'>,
  audit: AuditTrail
): HandlerTable {
  const market = {
    find: ({ id }: { readonly id: number }) => catalog.current().markets.get(id),
    notFound: 'There is no such market.',
  }
  return {
    ...handleAt(operations.putProducts, market, async ({ key, body, query }, { id: marketId }) => {
      const { dryRun = false, replace = false } = query
      const products = dryRun ? null : catalog.products
      const feed = new ProductFeed({ products, marketId, replace })
      try {
        const faults = await readFeed(body, feed)
        if (faults.length > 0) return refuse('REQUEST_INVALID', faults)
        await feed.finish()
      } finally {
        // A feed that broke off is recorded too.
        if (feed.hasStored) {
          const { taken, refusedCount, deactivated } = feed.result()
          const subject = `market ${marketId}: ${taken} taken, ${refusedCount} refused`
          const details = { replace, deactivated }
          await audit.record({ key, action: 'products.put', subject, details })
        }
      }
      return answerJson(200, feed.result())
    }),
    ...handleAt(operations.listProducts, market, async ({ query }, { id: marketId }) => {
      const { after = null, limit = pageLimits.default, gtin = null, title = null } = query
      const { products, next } = await catalog.products.list({
        marketId,
        after,
        limit,
        gtin,
        title,
      })
      const page: ProductPage = { entries: products, next }
      return answerJson(200, page)
    }),
  }
}

/** Puts every row into the feed; what is wrong with the header comes back. */
async function readFeed(stream: Readable, feed: ProductFeed): Promise<readonly string[]> {
  let rows: RowReader | null = null
  let said: Delimiter | null = null
  let hasRows = false
  for await (const lines of readLines(stream, { mayEndInCarriageReturns: true })) {
    for (const line of lines.map(withoutByteOrderMark)) {
      if (rows !== null) {
        hasRows ||= !isBlank(line)
        await feed.take(rows.push(line))
      } else if (said === null && delimiterSaid(line) !== null) {
        said = delimiterSaid(line)
      } else if (!isBlank(line)) {
        const parsed = parseHeader(line, said)
        if (!parsed.ok) return parsed.messages
        feed.begin(parsed.header)
        rows = new RowReader(parsed.header.delimiter)
      }
    }
  }
  await feed.take(rows?.end() ?? null)
  const isEmpty = rows === null && said === null
  return isEmpty || hasRows ? [] : [noRows]
}

const noRows =
  'The feed has one line alone, which names the columns. If it had more, its line ends were lost on the way: ' +
  'curl, for example, removes them with -d and keeps them with --data-binary.'

function isBlank({ bytes }: Line): boolean {
  return bytes !== null && bytes.toString('latin1').trim() === ''
}
