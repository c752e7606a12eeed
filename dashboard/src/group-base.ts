// What the groups of a page of the table had in the days that they are compared with.
import type { GroupBody } from '../../src/contract/group-request.ts'
import { anyCase } from '../../src/domain/any-case.ts'
import { gtinKey } from '../../src/domain/gtin.ts'
import { baseOf } from './bases.ts'
import type { ColumnName, Row } from './columns.ts'
import { changeOf } from './format.ts'
import { filterKinds, tabs, type FilterName } from './groups.ts'
import { groupsMax } from './reports.ts'
import { tableRequestOf, type View } from './view.ts'

/** The figure whose change is shown, as in the overview of several advertisers. */
export const comparedColumn = 'CONVERSION_VALUE'

/** What a row is filtered by, which tells it apart from the others; null for rows that are no groups of one kind. */
function idOf(view: View): { readonly filter: FilterName; readonly column: ColumnName } | null {
  if (view.tab === 'rows') return null
  const { down } = tabs[view.tab]
  return down === null
    ? { filter: 'gtin', column: 'GTIN' }
    : { filter: down.filter, column: down.value }
}

/** The same table for the other days, of the rows shown; null if nothing is to be asked. */
export function baseRequestOf(view: View, rows: readonly Row[]): GroupBody | null {
  const [days, id] = [baseOf(view), idOf(view)]
  if (days === null || id === null) return null
  const values = [...new Set(rows.map((row) => row[id.column] ?? ''))].filter(Boolean)
  if (values.length === 0) return null
  const { filters = [], ...request } = tableRequestOf(view)
  return {
    ...request,
    ...days,
    filters: [...filters, { field: filterKinds[id.filter].field, values }],
    withOrders: false,
    orderBy: comparedColumn,
    page: 0,
    limit: groupsMax,
  }
}

/** The change of a row; `new` if it had no figures in the other days, and null if there is nothing to say. */
export type GroupChange =
  | { readonly kind: 'change'; readonly change: number; readonly before: string }
  | { readonly kind: 'new' }
  /** There were figures, of which none can be grown from. */
  | { readonly kind: 'none-before' }

/** A function from a row to its change. */
export function changesIn(view: View, base: readonly Row[]): (row: Row) => GroupChange | null {
  const known = new Map(base.map((row) => [keyOf(view, row), row]))
  return (row) => {
    const id = idOf(view)
    const now = row[comparedColumn] ?? null
    // A row without an id cannot be asked for.
    if (now === null || id === null || (row[id.column] ?? '') === '') return null
    const before = known.get(keyOf(view, row))
    if (before === undefined) return { kind: 'new' }
    const value = before[comparedColumn] ?? null
    if (value === null) return null
    const change = changeOf(now, value)
    return change === null ? { kind: 'none-before' } : { kind: 'change', change, before: value }
  }
}

/** What tells groups apart. The names that the catalog gives them may depend on the days. */
function keyOf(view: View, row: Row): string {
  const id = idOf(view)
  const value = id === null ? '' : (row[id.column] ?? '')
  return JSON.stringify([
    id?.column === 'GTIN' ? gtinKey(value) : anyCase(value),
    // An ad group may have belonged to another campaign.
    view.tab === 'ad-groups' ? (row['CAMPAIGN_ID'] ?? '') : '',
    row['CURRENCY'] ?? '',
  ])
}
