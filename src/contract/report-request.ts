// The body of the report download, and every rule of it that needs no catalog. What comes out is
// normalized: defaults filled in, filter values as text, names from closed lists.
import { Type, type TSchema, type TUnknown } from 'typebox'
import { closed } from './closed.ts'
import { dateRange, dateText, flag, int32, optional, wordOf, type Of } from './fields.ts'
import {
  filterValueSchema,
  filtersSchema,
  parseFilters,
  productFilterFields,
  type FilterField,
  type FilterKind,
  type ProductFilterField,
  type ReportFilter,
} from './report-filters.ts'
import { rangeFaults } from './parameters.ts'
import { compileParser, type Parsed } from './validate.ts'

export const attributionProfiles = ['IMP_1_DAY_CLK_14_DAYS', 'IMP_1_DAY', 'CLK_14_DAYS'] as const

export const sortTypes = ['ASC', 'DESC'] as const

/** As the list of credited lines names them. */
export const attributionRules = ['DIRECT_CLICK', 'IN_GROUP_CLICK', 'VIEW'] as const

export type AttributionRule = (typeof attributionRules)[number]

/** Also the order of the columns of a report. */
export const orderByColumns = [
  'GTIN',
  'PRODUCT_TITLE',
  'BRAND',
  'MARKET',
  'PUBLISHER_ID',
  'PUBLISHER_NAME',
  'CAMPAIGN_ID',
  'CAMPAIGN_NAME',
  'AD_GROUP_ID',
  'AD_GROUP_NAME',
  'DATE',
  'IMPRESSIONS',
  'CLICKS',
  'LOADS',
  'CONVERSIONS',
  'UNITS_SOLD',
  'CLICK_THROUGH_RATE',
  'CONVERSION_RATE',
  'CONVERSION_VALUE',
  'AD_SPEND_REVENUE',
  'COST_PER_CLICK',
  'RETURN_ON_AD_SPEND',
] as const

export const reportLimits = {
  pageMax: 1_000,
  limitMax: 10_000,
  // Two years, one of them a leap year, both ends included.
  daysMax: 731,
} as const

/** What is meant where a request leaves it out. */
export const reportDefaults = {
  attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
  page: 0,
  limit: reportLimits.limitMax,
  sortType: 'ASC',
  dateBreakdown: false,
  orderBy: 'GTIN',
} as const

/** The paging of every report. */
export const reportPaging = {
  page: optional(
    int32({
      minimum: 0,
      maximum: reportLimits.pageMax,
      default: reportDefaults.page,
      description: 'The first page is 0.',
    })
  ),
  limit: optional(
    int32({
      minimum: 1,
      maximum: reportLimits.limitMax,
      default: reportDefaults.limit,
      description: 'Rows of a page at most.',
    })
  ),
}

/** The range of the reports that are asked for by a query. */
export const reportRange = dateRange({
  zone: 'the time zone of the market',
  daysMax: reportLimits.daysMax,
})

const profile = optional(
  wordOf(attributionProfiles, { default: reportDefaults.attributionProfile })
)

/** What every report in the body of a call is asked by. */
export function questionFields<Field extends FilterField, Value extends TSchema>(
  filter: FilterKind<Field, Value>
) {
  return {
    filters: filtersSchema(filter),
    startDate: dateText('First day, in the time zone of the market.'),
    endDate: dateText(`Last day, included; at most ${reportLimits.daysMax} days in all.`),
    attributionProfile: profile,
  }
}

/** The rest of the body of a report of rows. */
export const rowsFields = {
  ...reportPaging,
  sortType: optional(wordOf(sortTypes, { default: reportDefaults.sortType })),
  dateBreakdown: optional(
    flag({ default: reportDefaults.dateBreakdown, description: 'true: a row for each day.' })
  ),
  orderBy: optional(
    wordOf(orderByColumns, {
      default: reportDefaults.orderBy,
      description: '`DATE` needs `dateBreakdown`.',
    })
  ),
}

// The interface's schema marks page and limit as required, the rule text of its operation calls them
// optional; requiring them would refuse callers who go by the text, so they are optional here.
function requestSchema<Value extends TSchema>(value: Value) {
  const filter = { title: 'SpaProductReportFilter', fields: productFilterFields, value }
  return closed(
    Type.Object({ ...questionFields(filter), ...rowsFields }, { title: 'SpaProductReportRequest' })
  )
}

export const reportRequestSchema = requestSchema(filterValueSchema)

export const attributionsQuerySchema = Type.Object({
  ...reportRange,
  attributionProfile: profile,
  ...reportPaging,
  sortType: optional(
    wordOf(sortTypes, {
      default: reportDefaults.sortType,
      description: 'DESC: the newest purchase first.',
    })
  ),
  publisherId: optional(int32('Only purchases at this publisher.')),
  rule: optional(wordOf(attributionRules, 'Only lines that are credited by this rule.')),
  transactionId: optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Only this purchase.' })
  ),
})

export type AttributionsQuery = Of<typeof attributionsQuerySchema>
export type AttributionProfile = (typeof attributionProfiles)[number]
export type SortType = (typeof sortTypes)[number]
export type OrderByColumn = (typeof orderByColumns)[number]

/** What the figures of any report depend on. */
export interface ReportQuestion {
  readonly filters: readonly ReportFilter[]
  /** ISO days, both included; start is never after end. */
  readonly startDate: string
  readonly endDate: string
  readonly attributionProfile: AttributionProfile
}

export interface ReportRequest extends ReportQuestion {
  readonly page: number
  readonly limit: number
  readonly sortType: SortType
  readonly dateBreakdown: boolean
  readonly orderBy: OrderByColumn
}

/** The request of the interface, which has fewer fields to filter by. */
export interface ProductReportRequest extends ReportRequest {
  readonly filters: readonly ReportFilter<ProductFilterField>[]
}

/** The request as it is sent. */
export type ReportBody = Of<typeof reportRequestSchema>

// The values are checked below, with messages that tell their faults apart.
const parseBody = compileParser(requestSchema(Type.Unknown()))
const messagesMax = 20

/** The shape is right; the values of filters may be anything. */
type ShapedBody = Of<ReturnType<typeof requestSchema<TUnknown>>>

/** Checks the shape first and, when that holds, the meaning; then fills in the defaults. */
export function parseReportRequest(value: unknown): Parsed<ProductReportRequest> {
  const parsed = parseBody(value)
  if (!parsed.ok) return parsed

  const body = parsed.value
  const { filters, messages } = parseFilters(body.filters ?? [])
  const faults = questionFaults(body, [...orderFaults(body), ...messages])
  return faults ?? { ok: true, value: { ...withDefaults(body), filters } }
}

/** What is wrong with a question beside its shape: its range, and what its parser found. Null if nothing is. */
export function questionFaults(
  range: Pick<ReportQuestion, 'startDate' | 'endDate'>,
  found: readonly string[]
): { readonly ok: false; readonly messages: readonly string[] } | null {
  const messages = [...rangeFaults(range, reportLimits.daysMax, '/'), ...found]
  return messages.length === 0 ? null : { ok: false, messages: messages.slice(0, messagesMax) }
}

/** The body with its defaults. The filters have rules of their own. */
export function withDefaults(body: Omit<ShapedBody, 'filters'>): Omit<ReportRequest, 'filters'> {
  return {
    startDate: body.startDate,
    endDate: body.endDate,
    attributionProfile: body.attributionProfile ?? reportDefaults.attributionProfile,
    page: body.page ?? reportDefaults.page,
    limit: body.limit ?? reportDefaults.limit,
    sortType: body.sortType ?? reportDefaults.sortType,
    dateBreakdown: body.dateBreakdown ?? reportDefaults.dateBreakdown,
    orderBy: body.orderBy ?? reportDefaults.orderBy,
  }
}

export function orderFaults(
  body: Pick<ShapedBody, 'orderBy' | 'dateBreakdown'>
): readonly string[] {
  const isUnordered = body.orderBy === 'DATE' && body.dateBreakdown !== true
  return isUnordered ? ['/orderBy must not be DATE unless /dateBreakdown is true'] : []
}
