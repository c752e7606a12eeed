// The parts of a report by groups whose amounts are added up in one currency: a group has its figures by currency as maps,
// and its amounts are null where nothing of them has a rate, so that they come last in either order.

import type { GroupRequest } from '../contract/group-request.ts'
import type { GroupKey } from './groups-query.ts'
import { inOneCurrencySql } from './one-currency.ts'

const counts = ['loads', 'impressions', 'clicks', 'conversions', 'units_sold'] as const
/** In the order in which they are read. */
const figures = [...counts, 'conversion_value', 'spend'] as const
const targets = [
  'target_value',
  'target_spend',
  'value_without_rate',
  'spend_without_rate',
] as const

const zero = 'toDecimal128(0, 9)'

/** The columns that `inTargetSql` adds, of rows without amounts. */
export const noTargetSql = `, ${targets.map((name) => `${zero} AS ${name}`).join(', ')}`

interface Rows {
  readonly select: string
  readonly from: string
}

/** Adds the amounts in the target currency, and those without a rate, to the rows of the report by day. */
export function inTargetSql({ select, from }: Rows, keys: readonly GroupKey[]): string {
  const day = keys.includes('day') ? [] : ['day']
  const needed = ['row_value', 'row_spend', ...day]
  const rows = `${select}, conversion_value AS row_value, spend AS row_spend${day.map((name) => `, ${name}`).join('')}
    ${from}`
  return `
    SELECT * EXCEPT (${needed.join(', ')}, is_same, from_nanos, to_nanos, is_without_rate),
      if(is_without_rate, row_value, ${zero}) AS value_without_rate,
      if(is_without_rate, row_spend, ${zero}) AS spend_without_rate
    FROM (${inOneCurrencySql(rows)})`
}

interface Grouped {
  readonly keys: readonly GroupKey[]
  /** The columns that name a group. */
  readonly names: string
}

/** One row for each group, whatever its currencies. */
export function addedUpInOneSql(rows: string, { keys, names }: Grouped): string {
  const maps = [...figures, 'orders', 'first_orders', ...targets].map(
    (name) => `sumMap(map(currency, ${name})) AS by_${name}`
  )
  const sums = [...counts, 'orders'].map((name) => `${sumOf(name)} AS ${name}`)
  return `
  SELECT *, {targetCurrency:String} AS currency, ${sums.join(', ')},
    ${amountSql('value')} AS conversion_value, ${amountSql('spend')} AS spend,
    ${listSql([...figures, 'orders', ...targets], (name) => `by_${name}`)} AS own_sums
  FROM (
    SELECT ${keys.join(', ')}, ${names}, sum(unconverted) AS unconverted, ${maps.join(', ')}
    FROM (${rows})
    GROUP BY ${keys.join(', ')}
  )`
}

function sumOf(name: string): string {
  return `arraySum(mapValues(by_${name}))`
}

/** By the rule of the printed sums. */
function amountSql(amount: 'value' | 'spend'): string {
  const sum = sumOf(`target_${amount}`)
  return `if(${sum} = 0 AND ${hasPartWithoutRate(amount)}, NULL, ${sum})`
}

function hasPartWithoutRate(amount: 'value' | 'spend'): string {
  return `arrayExists(left -> left != 0, mapValues(by_${amount}_without_rate))`
}

/** The costs of a click are unknown if any part of the spend is. */
export function unknownLast({ orderBy }: Pick<GroupRequest, 'orderBy'>): readonly string[] {
  return orderBy === 'COST_PER_CLICK' ? [hasPartWithoutRate('spend')] : []
}

/** The figures of all rows by currency. */
export function sumsByCurrencySql(isConverted: boolean): string {
  return isConverted
    ? listSql([...figures, 'first_orders', ...targets], (name) => `sumMap(by_${name}) OVER ()`)
    : listSql([...figures, 'first_orders'], (name) => `sumMap(map(currency, ${name})) OVER ()`)
}

/** Maps by currency as a list of objects. */
function listSql(names: readonly string[], mapOf: (name: string) => string): string {
  const texts = names.map(
    (name) => `mapApply((code, sum) -> (code, toString(sum)), ${mapOf(name)})`
  )
  return `toJSONString([${texts.join(', ')}])`
}
