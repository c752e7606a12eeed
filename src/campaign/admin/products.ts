import type { Readable } from 'node:stream'
import {
  answerJson,
  refuse,
  type Call,
  type Handler,
  type HandlerTable,
} from '../../http/handler.ts'
import type { ProductPage } from '../../contract/products.ts'
import { parsePositiveInt32 } from '../../domain/ids.ts'
import { assert } from '../../lib/assert.ts'
import type { AuditTrail } from '../../access/audit-trail.ts'
import type { AdminDeps } from './deps.ts'
import { parseHeader } from './feed/feed-header.ts'
import { RowReader } from './feed/feed-rows.ts'
import { readLines, withoutByteOrderMark, type Line } from './line-reader.ts'
import { ProductFeed } from './feed/product-feed.ts'
import { QueryReader } from '../../http/query-reader.ts'

type ProductDeps = Pick<AdminDeps, 'catalog'>

const noMarket = refuse(404, ['There is no such market.'])

export function createProductHandlers(deps: ProductDeps, audit: AuditTrail): HandlerTable {
  return {
    putProducts: createPutProducts(deps, audit),
    listProducts: createListProducts(deps),
  }
}

/**
 * A merchant feed of any length in flat memory. What is taken stands, also of a feed that breaks off:
 * each product is true by itself, and the repeat of the feed replaces it. Only the end of a whole feed
 * deactivates anything.
 */
function createPutProducts({ catalog }: ProductDeps, audit: AuditTrail): Handler {
  return async ({ key, stream, pathParameters, query }) => {
    assert(key !== null && stream !== null, 'a feed is the stream of a key')
    const marketId = marketOf(pathParameters, catalog)
    if (marketId === null) return noMarket
    const options = new QueryReader(query)
    const dryRun = options.flag('dryRun')
    const replace = options.flag('replace')
    if (options.messages.length > 0) return refuse(422, options.messages)

    const { products } = catalog
    const feed = new ProductFeed({ products: dryRun ? null : products, marketId, replace })
    try {
      const faults = await readFeed(stream, feed)
      if (faults.length > 0) return refuse(422, faults)
      await feed.finish()
    } finally {
      // Also of one that broke off.
      if (feed.hasStored) {
        const { taken, refusedCount, deactivated } = feed.result()
        const subject = `market ${marketId}: ${taken} taken, ${refusedCount} refused`
        await audit.record({
          key,
          action: 'products.put',
          subject,
          details: { replace, deactivated },
        })
      }
    }
    return answerJson(200, feed.result())
  }
}

/** Puts every row into the feed; what is wrong with the header comes back. */
async function readFeed(stream: Readable, feed: ProductFeed): Promise<readonly string[]> {
  let rows: RowReader | null = null
  for await (const lines of readLines(stream)) {
    for (const line of lines.map(withoutByteOrderMark)) {
      if (rows !== null) {
        await feed.take(rows.push(line))
      } else if (!isBlank(line)) {
        const parsed = parseHeader(line)
        if (!parsed.ok) return parsed.messages
        feed.begin(parsed.header)
        rows = new RowReader(parsed.header.delimiter)
      }
    }
  }
  await feed.take(rows?.end() ?? null)
  return []
}

function isBlank({ bytes }: Line): boolean {
  return bytes !== null && bytes.toString('latin1').trim() === ''
}

function createListProducts({ catalog }: ProductDeps): Handler {
  return async ({ pathParameters, query }) => {
    const marketId = marketOf(pathParameters, catalog)
    if (marketId === null) return noMarket
    const options = new QueryReader(query)
    const question = {
      marketId,
      after: options.text('after', 60),
      limit: options.limit(),
      gtin: options.text('gtin', 60),
      title: options.text('title', 500),
    }
    if (options.messages.length > 0) return refuse(422, options.messages)

    const { products, next } = await catalog.products.list(question)
    const page: ProductPage = { entries: products, next }
    return answerJson(200, page)
  }
}

/** Null when the path names no market of the catalog. */
function marketOf(
  pathParameters: Call['pathParameters'],
  catalog: Pick<ProductDeps['catalog'], 'current'>
): number | null {
  const id = parsePositiveInt32(pathParameters['id'] ?? '')
  return id !== null && catalog.current().markets.has(id) ? id : null
}
