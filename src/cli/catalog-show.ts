import { Type } from 'typebox'
import { catalogBundleSchema } from '../contract/catalog-bundle.ts'
import { pageKinds } from '../contract/catalog-pages.ts'
import { usageError } from './cli-error.ts'
import type { Command, CommandContext } from './context.ts'
import { requireMarket } from './market-option.ts'
import { readAs } from './read-as.ts'
import { formatTable } from './table.ts'

const readBundle = readAs(catalogBundleSchema)
const readPage = readAs(
  Type.Object({
    entries: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    next: Type.Union([Type.String(), Type.Null()]),
  })
)

type Entry = ReturnType<typeof readPage>['entries'][number]

const productOptions = ['market', 'gtin', 'title'] as const

export const catalogShow: Command = {
  name: 'catalog show',
  usage: '[KIND] [--after ID] [--limit N] [--market ID [--gtin GTIN] [--title PART]]',
  summary: `Show a page of the catalog: ${pageKinds.join(', ')}, or the products of a market`,
  options: {
    after: { type: 'string' },
    limit: { type: 'string' },
    market: { type: 'string' },
    gtin: { type: 'string' },
    title: { type: 'string' },
  },
  positionalCount: 0,
  optionalCount: 1,
  run: async (context) => {
    const [kind] = context.positionals
    if (kind === undefined) return await showCounts(context)
    const path = pathOf(context, kind)
    const page = readPage(await context.client().call({ method: 'GET', path }))
    const more = page.next === null ? [] : [`More follow: --after ${page.next}`]
    context.print(page, [formatEntries(page.entries), ...more].join('\n'))
    return 0
  },
}

/** Without a kind: how many entries of each there are, and with `--json` the entries themselves. */
async function showCounts(context: CommandContext): Promise<number> {
  const bundle = readBundle(await context.client().call({ method: 'GET', path: '/catalog' }))
  const rows = Object.entries(bundle).map(([kind, entries]) => [kind, String(entries.length)])
  context.print(bundle, formatTable(['KIND', 'ENTRIES'], rows))
  return 0
}

function pathOf(context: CommandContext, kind: string): string {
  const { options } = context
  const isProducts = kind === 'products'
  if (!isProducts && !pageKinds.some((known) => known === kind)) {
    throw usageError(`The kind must be one of: ${[...pageKinds, 'products'].join(', ')}.`)
  }
  const foreign = productOptions.find((name) => options[name] !== undefined)
  if (!isProducts && foreign !== undefined) throw usageError(`--${foreign} is for products only.`)

  const query = new URLSearchParams()
  for (const name of ['after', 'limit', ...(isProducts ? ['gtin', 'title'] : [])]) {
    const value = options[name]
    if (typeof value === 'string') query.set(name, value)
  }
  const path = isProducts ? `/markets/${requireMarket(context)}/products` : `/catalog/${kind}`
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

/** What is not a plain value (sites, access) is shown as its number; `--json` has it whole. */
function formatEntries(entries: readonly Entry[]): string {
  if (entries.length === 0) return 'There are none.'
  const columns = [...new Set(entries.flatMap((entry) => Object.keys(entry)))]
  const rows = entries.map((entry) => columns.map((column) => cellOf(entry[column])))
  return formatTable(
    columns.map((column) => column.toUpperCase()),
    rows
  )
}

function cellOf(value: unknown): string {
  if (Array.isArray(value)) return String(value.length)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''
}
