// Turns the filters of a report into SQL conditions. Their text comes from closed lists; values are bound.

import type { ReportRequest } from '../contract/report-request.ts'
import { gtinKey } from '../domain/gtin.ts'
import type { Params } from '../warehouse/warehouse.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'

/** Conditions that need no product, applied to events and products before anything is summed. */
export function rowConditions(request: ReportRequest): string {
  const conditions = request.filters.flatMap((filter, index) => {
    if (filter.field === 'GTIN') return [`gtin_key IN {filter${index}:Array(String)}`]
    if (filter.field === 'MARKET') return [`market_id IN {filter${index}:Array(Int32)}`]
    return []
  })
  return conditions.length === 0 ? '1' : conditions.join(' AND ')
}

/** Conditions on the product of a row. */
export function productConditions(request: ReportRequest): string {
  const conditions = request.filters.flatMap((filter, index) => {
    const values = `arrayMap(v -> lowerUTF8(v), {filter${index}:Array(String)})`
    if (filter.field === 'BRAND') return [`has(${values}, lowerUTF8(brand))`]
    if (filter.field === 'PRODUCT_TITLE') {
      return [`arrayExists(v -> position(lowerUTF8(title), v) > 0, ${values})`]
    }
    return []
  })
  return conditions.length === 0 ? '1' : conditions.join(' AND ')
}

/** The values that the conditions bind. */
export function filterParams(request: ReportRequest, catalog: CatalogNames): Params {
  return Object.fromEntries(
    request.filters.map((filter, index): [string, readonly string[] | readonly number[]] => {
      const name = `filter${index}`
      if (filter.field === 'GTIN') return [name, filter.values.map(gtinKey)]
      if (filter.field === 'MARKET') return [name, marketIds(filter.values, catalog)]
      return [name, filter.values]
    })
  )
}

/** A market is named by its code, in upper or lower case, or by its id, even if the catalog lacks it. */
function marketIds(values: readonly string[], catalog: CatalogNames): readonly number[] {
  return values.flatMap((value) => {
    const wanted = value.toUpperCase()
    const byCode = catalog.markets().filter((market) => market.code.toUpperCase() === wanted)
    const byId =
      /^[1-9]\d{0,9}$/u.test(value) && Number(value) <= 2_147_483_647 ? [Number(value)] : []
    return [...byCode.map((market) => market.id), ...byId]
  })
}
