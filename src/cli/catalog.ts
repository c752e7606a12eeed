import { catalogResultSchema } from '../contract/catalog-bundle.ts'
import { feedResultSchema, type FeedResult } from '../contract/products.ts'
import { CliError } from './cli-error.ts'
import type { Command, CommandContext } from './context.ts'
import { readInput } from './input.ts'
import { requireMarket } from './market-option.ts'
import { readAs } from './read-as.ts'
import { describeRefused, upload } from './upload.ts'

const bytesMax = 67_108_864

const readResult = readAs(catalogResultSchema)
const readFeedResult = readAs(feedResultSchema)

export const catalogLoad: Command = {
  name: 'catalog load',
  usage: 'FILE|- [--dry-run]',
  summary: 'Add or replace the entries of a catalog bundle (JSON), all of them or none',
  options: { 'dry-run': { type: 'boolean' } },
  positionalCount: 1,
  run: async (context) => {
    const body = await readInput(context)
    if (body.length > bytesMax) {
      throw new CliError('A bundle has at most 64 MiB: load it in parts, owners before the owned.')
    }
    const path = `/catalog${queryOf(context, { 'dry-run': 'dryRun' })}`
    const result = readResult(await context.client().call({ method: 'PUT', path, body }))
    const done = result.dryRun === true ? 'would be taken; nothing is stored' : 'taken'
    context.print(result, `${result.entries} entries and ${result.products} products ${done}.`)
    return 0
  },
}

export const catalogProducts: Command = {
  name: 'catalog products',
  usage: 'FILE|- --market ID [--dry-run] [--replace]',
  summary: 'Load a Google Merchant feed (TSV or CSV) into a market, whatever its length',
  options: {
    market: { type: 'string' },
    'dry-run': { type: 'boolean' },
    replace: { type: 'boolean' },
  },
  positionalCount: 1,
  run: async (context) => {
    const marketId = requireMarket(context)
    const query = queryOf(context, { 'dry-run': 'dryRun', replace: 'replace' })
    const result = readFeedResult(
      await upload(context, {
        method: 'PUT',
        path: `/markets/${marketId}/products${query}`,
        contentType: 'text/tab-separated-values',
      })
    )
    context.print(result, describeFeed(result))
    return result.refusedCount === 0 && result.notReplaced === undefined ? 0 : 1
  },
}

function describeFeed(result: FeedResult): string {
  const { taken, repeated = 0, refused, refusedCount, deactivated, notReplaced, dryRun } = result
  const done = dryRun === true ? 'would be taken, nothing is stored' : 'taken'
  return [
    `${taken} rows ${done}; ${refusedCount} refused.`,
    ...(repeated > 0 ? [`${repeated} of them gave way to a later row for the same product.`] : []),
    ...(deactivated === undefined ? [] : [`${deactivated} products are no longer active.`]),
    ...(notReplaced === undefined ? [] : [`Nothing was replaced: ${notReplaced}.`]),
    ...describeRefused(refused, refusedCount),
  ].join('\n')
}

/** The switches that are on, under the names of the API. */
function queryOf({ options }: CommandContext, names: Readonly<Record<string, string>>): string {
  const on = Object.entries(names).filter(([option]) => options[option] === true)
  return on.length === 0 ? '' : `?${on.map(([, name]) => `${name}=true`).join('&')}`
}
