// What filters are called that name campaigns, products and so on by their ids.
import type { AdvertiserAccount } from '../../src/contract/me.ts'
import { gtinKey } from '../../src/domain/gtin.ts'
import type { Row } from './columns.ts'
import type { FilterName } from './groups.ts'
import { latestOf } from './loaded.ts'
import { useProducts } from './reports.ts'
import type { View } from './view.ts'
import { t } from './language.ts'

export type NameOf = (filter: FilterName, value: string) => string

/** Products have their titles once these are there: those of the markets of the currency shown, if they have any. */
export function useFilterNames(account: AdvertiserAccount, view: View): NameOf {
  const products = latestOf(useProducts(account.id, view)) ?? []
  // A market has titles in its own language, and of all markets the first ones are the likeliest to be read.
  const currencies = [view.currency, ...account.markets.map(({ currency }) => currency)]
  const placeOf = (row: Row) => currencies.indexOf(row['CURRENCY'] ?? '')
  const rows = products.toSorted((one, other) => placeOf(one) - placeOf(other))
  return (filter, value) =>
    filter === 'gtin' ? nameOfProduct(value, rows) : nameOfValue(filter, value, account)
}

/** By the first row with a title. The GTIN stays: it is what people look up elsewhere. */
export function nameOfProduct(gtin: string, rows: readonly Row[]): string {
  const key = gtinKey(gtin)
  const titles = rows.flatMap(({ GTIN: own, PRODUCT_TITLE: title }) =>
    gtinKey(own ?? '') === key && (title ?? '') !== '' ? [title] : []
  )
  return titles[0] === undefined ? gtin : `${titles[0]} (${gtin})`
}

/** As the catalog calls it. */
export function nameOfValue(filter: FilterName, value: string, account: AdvertiserAccount): string {
  const named = {
    campaign: account.campaigns,
    'ad-group': account.adGroups,
    publisher: account.publishers,
  } as const
  if (filter !== 'campaign' && filter !== 'ad-group' && filter !== 'publisher') return value
  const known = named[filter].find(({ id }) => String(id) === value)?.name
  return known === undefined || known === '' ? t('No name ({{value}})', { value }) : known
}
