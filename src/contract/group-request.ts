// The body of a report by groups: the report, added up by campaign, ad group, product and so on.
import { Type, type TSchema } from 'typebox'
import { closed } from './closed.ts'
import { convertToField, parseConvertTo } from './convert-to.ts'
import { flag, optional, text, wordOf, type Of } from './fields.ts'
import type { Column } from './report-columns.ts'
import { filterValueSchema, parseFilters } from './report-filters.ts'
import {
  orderByColumns,
  questionFaults,
  questionFields,
  reportDefaults,
  reportPaging,
  sortTypes,
  type OrderByColumn,
  type ReportQuestion,
  type SortType,
} from './report-request.ts'
import { anyFilter } from './series-request.ts'
import { compileParser, type Parsed } from './validate.ts'

/** What rows may be added up by, with the columns that tell them apart and name them. */
export const columnsOfGrouping = {
  CAMPAIGN: ['CAMPAIGN_ID', 'CAMPAIGN_NAME'],
  AD_GROUP: ['CAMPAIGN_ID', 'CAMPAIGN_NAME', 'AD_GROUP_ID', 'AD_GROUP_NAME'],
  PRODUCT: ['GTIN', 'PRODUCT_TITLE', 'BRAND'],
  BRAND: ['BRAND'],
  PUBLISHER: ['PUBLISHER_ID', 'PUBLISHER_NAME'],
  MARKET: ['MARKET'],
  DATE: ['DATE'],
} as const satisfies Record<string, readonly OrderByColumn[]>

export type Grouping = keyof typeof columnsOfGrouping

export const groupings = [
  'CAMPAIGN',
  'AD_GROUP',
  'PRODUCT',
  'BRAND',
  'PUBLISHER',
  'MARKET',
  'DATE',
] as const satisfies readonly Grouping[]

/** Columns that say what a row is of; the others are figures. */
const dimensionColumns: ReadonlySet<string> = new Set(Object.values(columnsOfGrouping).flat())

export type GroupColumn = Column | 'ORDERS'
export type GroupOrder = OrderByColumn | 'ORDERS'

const groupOrders = [...orderByColumns, 'ORDERS'] as const

/** The columns of a report by groups, in the order of the report. */
export function listGroupColumns(groupBy: readonly Grouping[]): readonly GroupColumn[] {
  const own = new Set<string>(groupBy.flatMap((grouping) => columnsOfGrouping[grouping]))
  const shown = orderByColumns.filter((name) => own.has(name) || !dimensionColumns.has(name))
  return [...shown, 'CURRENCY', 'ORDERS']
}

/** Columns that depend on the currency. */
const moneyColumns: ReadonlySet<string> = new Set([
  'CONVERSION_VALUE',
  'AD_SPEND_REVENUE',
  'COST_PER_CLICK',
  'RETURN_ON_AD_SPEND',
  'CURRENCY',
])

export function isDimension(column: GroupColumn): boolean {
  return dimensionColumns.has(column)
}

/** What depends on the currency is never called like an amount that is not converted. */
export function isConvertedColumn(column: GroupColumn): boolean {
  return moneyColumns.has(column)
}

/** The columns of the CSV with `convertTo`. */
export function listConvertedColumns(groupBy: readonly Grouping[]): readonly string[] {
  const columns = listGroupColumns(groupBy)
  return [
    ...columns.map((name) => (isConvertedColumn(name) ? `CONVERTED_${name}` : name)),
    'CONVERTED_FROM',
    'WITHOUT_RATE',
  ]
}

export interface GroupRequest extends ReportQuestion {
  /** At least one, each once. */
  readonly groupBy: readonly Grouping[]
  readonly withOrders: boolean
  /** A currency in which the amounts of a group are added up, whatever theirs are. */
  readonly convertTo?: string | null
  /** The only currency whose rows are there; '' is that of markets which the catalog does not have. */
  readonly currency?: string
  readonly page: number
  readonly limit: number
  readonly sortType: SortType
  readonly orderBy: GroupOrder
}

const groupDefaults = { sortType: 'DESC', orderBy: 'AD_SPEND_REVENUE', withOrders: true } as const

function requestSchema<Value extends TSchema>(value: Value) {
  return closed(
    Type.Object(
      {
        groupBy: Type.Array(wordOf(groupings), {
          minItems: 1,
          maxItems: groupings.length,
          uniqueItems: true,
          description:
            'What a row is of; each of them adds columns. Rows are told apart by currency in any case, except ' +
            'under `converted`. ' +
            'AD_GROUP tells campaigns apart as well.',
        }),
        ...questionFields({ ...anyFilter, value }),
        ...reportPaging,
        sortType: optional(wordOf(sortTypes, { default: groupDefaults.sortType })),
        orderBy: optional(
          wordOf(groupOrders, {
            default: groupDefaults.orderBy,
            description: 'A figure, or a column that `groupBy` gives.',
          })
        ),
        withOrders: optional(
          flag({
            default: groupDefaults.withOrders,
            description:
              'false: ORDERS are null, which is faster: they are counted from the attributions.',
          })
        ),
        convertTo: convertToField,
        currency: optional(
          text({
            title: 'an ISO 4217 currency code such as EUR, or an empty text',
            pattern: '^(?:[A-Z]{3})?$',
            description:
              'Only the rows and totals of this currency, with the same figures as among all: an order still counts ' +
              'where its first line stands. An empty text names markets that the catalog does not have. Not with ' +
              '`convertTo`.',
          })
        ),
      },
      { title: 'SpaProductGroupsRequest' }
    )
  )
}

export const groupRequestSchema = requestSchema(filterValueSchema)

/** The request as it is sent. */
export type GroupBody = Of<typeof groupRequestSchema>

const parseBody = compileParser(requestSchema(Type.Unknown()))

export function parseGroupRequest(value: unknown): Parsed<GroupRequest> {
  const parsed = parseBody(value)
  if (!parsed.ok) return parsed

  const body = parsed.value
  const { filters, messages } = parseFilters(body.filters ?? [])
  const { convertTo, faults: ownFaults } = parseConvertTo(body.convertTo)
  const refused = [...orderFaults(body), ...messages, ...ownFaults, ...currencyFaults(body)]
  const faults = questionFaults(body, refused)
  if (faults !== null) return faults

  return {
    ok: true,
    value: {
      groupBy: body.groupBy,
      filters,
      startDate: body.startDate,
      endDate: body.endDate,
      attributionProfile: body.attributionProfile ?? reportDefaults.attributionProfile,
      page: body.page ?? reportDefaults.page,
      limit: body.limit ?? reportDefaults.limit,
      sortType: body.sortType ?? groupDefaults.sortType,
      orderBy: body.orderBy ?? groupDefaults.orderBy,
      withOrders: body.withOrders ?? groupDefaults.withOrders,
      ...(convertTo !== null && { convertTo }),
      ...(body.currency !== undefined && { currency: body.currency }),
    },
  }
}

/** Converted rows are of all currencies. */
function currencyFaults({
  currency,
  convertTo,
}: Pick<GroupBody, 'currency' | 'convertTo'>): readonly string[] {
  const areBoth = currency !== undefined && convertTo !== undefined
  return areBoth ? ['/currency and /convertTo must not be there together'] : []
}

function orderFaults({
  groupBy,
  orderBy = groupDefaults.orderBy,
}: Pick<GroupBody, 'groupBy' | 'orderBy'>): readonly string[] {
  if (listGroupColumns(groupBy).includes(orderBy)) return []
  const fitting = groupings.filter((grouping) =>
    columnsOfGrouping[grouping].some((column) => column === orderBy)
  )
  return [`/orderBy must not be ${orderBy} unless /groupBy has ${fitting.join(' or ')}`]
}
