// Turns the filters of a report into SQL conditions. Their text comes from closed lists; values are bound.

import { isIdField, type FilterField } from '../contract/report-filters.ts'
import type { ReportQuestion } from '../contract/report-request.ts'
import { gtinKey } from '../domain/gtin.ts'
import type { Params } from '../warehouse/warehouse.ts'
import { anyCaseSql } from '../domain/any-case.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'

/** Conditions that need no product, applied to events before anything is summed. */
export function rowConditions(request: Filtered): string {
  return conditionsOf(request, rowCondition)
}

/** Those of them that a row of the catalog's products can be asked as well. */
export function productKeyConditions(request: Filtered): string {
  return conditionsOf(request, productKeyCondition)
}

type Filtered = Pick<ReportQuestion, 'filters'>

function conditionsOf(
  { filters }: Filtered,
  conditionOf: (field: FilterField, name: string) => string | null
): string {
  const conditions = filters.flatMap(
    ({ field }, index) => conditionOf(field, `filter${index}`) ?? []
  )
  return conditions.length === 0 ? '1' : conditions.join(' AND ')
}

function productKeyCondition(field: FilterField, name: string): string | null {
  if (field === 'GTIN') return `gtin_key IN {${name}:Array(String)}`
  return field === 'MARKET' ? `market_id IN {${name}:Array(Int32)}` : null
}

const idColumns = {
  CAMPAIGN_ID: 'campaign_id',
  AD_GROUP_ID: 'ad_group_id',
  PUBLISHER_ID: 'publisher_id',
} as const

function rowCondition(field: FilterField, name: string): string | null {
  if (isIdField(field)) return `${idColumns[field]} IN {${name}:Array(Int32)}`
  return productKeyCondition(field, name)
}

/** Conditions on the product of a row. */
export function productConditions(request: Filtered): string {
  return conditionsOf(request, (field, name) => {
    const values = `arrayMap(v -> ${anyCaseSql('v')}, {${name}:Array(String)})`
    if (field === 'BRAND') return `has(${values}, ${anyCaseSql('brand')})`
    if (field !== 'PRODUCT_TITLE') return null
    return `arrayExists(v -> position(${anyCaseSql('title')}, v) > 0, ${values})`
  })
}

/** The values that the conditions bind. */
export function filterParams(request: Filtered, catalog: CatalogNames): Params {
  return Object.fromEntries(
    request.filters.map((filter, index): [string, readonly string[] | readonly number[]] => {
      const name = `filter${index}`
      if (filter.field === 'GTIN') return [name, filter.values.map(gtinKey)]
      if (filter.field === 'MARKET') return [name, marketIds(filter.values, catalog)]
      return [name, isIdField(filter.field) ? filter.values.map(Number) : filter.values]
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
