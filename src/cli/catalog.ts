import { Type } from 'typebox'
import { catalogBundleSchema, catalogResultSchema } from '../contract/catalog-bundle.ts'
import type { Trust, TrustChange } from '../contract/catalog-bundle.ts'
import { feedResultSchema, type FeedResult } from '../contract/products.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { CliError, usageError, type Run, type CommandContext } from './command.ts'
import { describeRefused, readInput, upload } from './input.ts'
import type { Layout } from './layout.ts'
import { printRows } from './list.ts'
import { formatTable } from './table.ts'
import { counted, formatCount } from './words.ts'

const bytesMax = 67_108_864

export const catalogLoad: Run = async (context) => {
  const body = await readInput(context)
  if (body.length > bytesMax) {
    throw new CliError('A bundle has at most 64 MiB: split it, and load parents before children.')
  }
  const path = `/catalog${queryOf(context, { 'dry-run': 'dryRun' })}`
  const result = await context.call(catalogResultSchema, { method: 'PUT', path, body })
  const done = result.dryRun === true ? 'would be taken; nothing is stored' : 'taken'
  const entries = counted(result.entries, 'entry', 'entries')
  const text = `${entries} and ${counted(result.products, 'product')} ${done}.`
  context.print(result, [text, ...(result.trustChanges ?? []).map(describeTrust)].join('\n'))
  return 0
}

function describeTrust({ publisherId, before, after }: TrustChange): string {
  return `Publisher ${publisherId}: deliveries count ${trustText(after)}; before ${trustText(before)}.`
}

function trustText({ conversionSources, requireKey }: Trust): string {
  const from =
    conversionSources.length === 0 ? 'from anywhere' : `from ${conversionSources.join(', ')}`
  if (requireKey === null) return `${from}, with or without a key as the installation says`
  return `${from}, ${requireKey ? 'with a key only' : 'without a key too'}`
}

export const catalogProducts: Run = async (context) => {
  const marketId = requireMarket(context)
  const query = queryOf(context, { 'dry-run': 'dryRun', replace: 'replace' })
  const result = await upload(context, feedResultSchema, {
    method: 'PUT',
    path: `/markets/${marketId}/products${query}`,
    contentType: 'text/tab-separated-values',
  })
  context.print(result, describeFeed(result))
  return result.refusedCount === 0 && result.notReplaced === undefined ? 0 : 1
}

function describeFeed(result: FeedResult): string {
  const { taken, repeated = 0, refused, refusedCount, deactivated, notReplaced, dryRun } = result
  const done = dryRun === true ? 'would be taken, nothing is stored' : 'taken'
  return [
    `${counted(taken, 'row')} ${done}; ${formatCount(refusedCount)} refused.`,
    ...(repeated > 0
      ? [
          `${formatCount(repeated)} of them ${repeated === 1 ? 'was' : 'were'} replaced by a later row for the same product.`,
        ]
      : []),
    ...(deactivated === undefined
      ? []
      : [
          `${counted(deactivated, 'product')} ${deactivated === 1 ? 'is' : 'are'} no longer active.`,
        ]),
    ...(notReplaced === undefined ? [] : [`Nothing was replaced: ${notReplaced}.`]),
    ...describeRefused(refused, refusedCount),
  ].join('\n')
}

/** The switches that are on, by their names in the API. */
function queryOf({ options }: CommandContext, names: Readonly<Record<string, string>>): string {
  const on = Object.entries(names).filter(([option]) => options[option] === true)
  return on.length === 0 ? '' : `?${on.map(([, name]) => `${name}=true`).join('&')}`
}

const entriesPageSchema = Type.Object({
  entries: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  next: Type.Union([Type.String(), Type.Null()]),
})

const productOptions = ['market', 'gtin', 'title'] as const

export const catalogShow: Run = async (context) => {
  const [kind] = context.positionals
  if (kind === undefined) return await showCounts(context)
  const path = pathOf(context, kind)
  const page = await context.call(entriesPageSchema, { method: 'GET', path })
  const more = page.next === null ? [] : [`More follow: --after ${page.next}`]
  context.print(page, [entriesText(page.entries, context.layout), ...more].join('\n'))
  return 0
}

/** Prints how many entries of each kind there are; with `--json`, the entries themselves. */
async function showCounts(context: CommandContext): Promise<number> {
  const bundle = await context.call(catalogBundleSchema, { method: 'GET', path: '/catalog' })
  const rows = Object.entries(bundle).map(([kind, entries]) => [kind, String(entries.length)])
  context.print(bundle, formatTable(['KIND', 'ENTRIES'], rows, context.layout))
  return 0
}

function pathOf(context: CommandContext, kind: string): string {
  const { options } = context
  const isProducts = kind === 'products'
  const foreign = productOptions.find((name) => options[name] !== undefined)
  if (!isProducts && foreign !== undefined)
    throw usageError(`--${foreign} can be used with products only.`)

  const query = new URLSearchParams()
  for (const name of ['after', 'limit', ...(isProducts ? ['gtin', 'title'] : [])]) {
    const value = options[name]
    if (typeof value === 'string') query.set(name, value)
  }
  const path = isProducts ? `/markets/${requireMarket(context)}/products` : `/catalog/${kind}`
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

function entriesText(
  entries: readonly Readonly<Record<string, unknown>>[],
  layout: Layout
): string {
  const columns = [...new Set(entries.flatMap((entry) => Object.keys(entry)))]
  return entries.length === 0 ? 'There are no entries.' : printRows(entries, columns, layout)
}

/** The id given with `--market`. */
function requireMarket({ options }: CommandContext): number {
  const text = options['market']
  const id = typeof text === 'string' ? parsePositiveInt32(text) : null
  if (id === null) throw usageError('--market must be the id of a market, such as 1.')
  return id
}
