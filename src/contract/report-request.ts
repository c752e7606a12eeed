// The body of the report download, and every rule of it that needs no catalog. What comes out is
// normalized: defaults filled in, filter values as text, names from closed lists.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import { isText } from '../domain/text.ts'
import { dateRange, dateText, int32, list, named, optional, wordOf, type Of } from './fields.ts'
import { rangeFaults } from './parameters.ts'
import { compileParser, type Parsed } from './validate.ts'

export const filterFields = ['GTIN', 'PRODUCT_TITLE', 'BRAND', 'MARKET'] as const

export const attributionProfiles = ['IMP_1_DAY_CLK_14_DAYS', 'IMP_1_DAY', 'CLK_14_DAYS'] as const

export const sortTypes = ['ASC', 'DESC'] as const

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
  filtersMax: 100,
  // Over all filters together; each is a bound parameter of one query.
  valuesMax: 10_000,
} as const

export const reportFilterSchema = named('SpaProductReportFilter', {
  field: optional(wordOf(filterFields)),
  values: optional(
    list(
      Type.Unknown(),
      'Any of them matches. An element is a string, a number, or an object whose `value` is one.'
    )
  ),
})

/** The paging of every report. */
export const reportPaging = {
  page: optional(int32({ minimum: 0, maximum: reportLimits.pageMax })),
  limit: optional(int32({ minimum: 1, maximum: reportLimits.limitMax })),
}

/** The range of the reports that are asked for by a query. */
export const reportRange = dateRange({
  zone: 'the time zone of the market',
  daysMax: reportLimits.daysMax,
})

// The interface's schema marks page and limit as required, the rule text of its operation calls them
// optional; requiring them would refuse callers who go by the text, so they are optional here.
export const reportRequestSchema = closed(
  Type.Object(
    {
      filters: optional(list(reportFilterSchema, 'All of them must match.')),
      startDate: dateText('First day, in the time zone of the market.'),
      endDate: dateText('Last day, included.'),
      attributionProfile: optional(wordOf(attributionProfiles)),
      ...reportPaging,
      sortType: optional(wordOf(sortTypes)),
      dateBreakdown: optional(Type.Boolean()),
      orderBy: optional(wordOf(orderByColumns)),
    },
    {
      title: 'SpaProductReportRequest',
      description:
        'Without attributionProfile IMP_1_DAY_CLK_14_DAYS is meant, without orderBy GTIN, without sortType ' +
        'ASC, without page 0, without limit 10000, without dateBreakdown false.',
    }
  )
)

export const attributionsQuerySchema = Type.Object({
  ...reportRange,
  attributionProfile: optional(wordOf(attributionProfiles, 'IMP_1_DAY_CLK_14_DAYS when absent.')),
  ...reportPaging,
})

export type AttributionsQuery = Of<typeof attributionsQuerySchema>
export type FilterField = (typeof filterFields)[number]
export type AttributionProfile = (typeof attributionProfiles)[number]
export type SortType = (typeof sortTypes)[number]
export type OrderByColumn = (typeof orderByColumns)[number]

export interface ReportFilter {
  readonly field: FilterField
  /** Text as sent, numbers in their shortest decimal form. Empty matches nothing. */
  readonly values: readonly string[]
}

export interface ReportRequest {
  readonly filters: readonly ReportFilter[]
  /** ISO days, both included; start is never after end. */
  readonly startDate: string
  readonly endDate: string
  readonly attributionProfile: AttributionProfile
  readonly page: number
  readonly limit: number
  readonly sortType: SortType
  readonly dateBreakdown: boolean
  readonly orderBy: OrderByColumn
}

/** The request as it is sent. */
export type ReportBody = Of<typeof reportRequestSchema>

const parseBody = compileParser(reportRequestSchema)
const messagesMax = 20

/** Checks the shape first and, when that holds, the meaning; then fills in the defaults. */
export function parseReportRequest(value: unknown): Parsed<ReportRequest> {
  const parsed = parseBody(value)
  if (!parsed.ok) return parsed

  const body = parsed.value
  const filters = parseFilters(body.filters ?? [])
  const messages = [
    ...rangeFaults(body, reportLimits.daysMax, '/'),
    ...orderFaults(body),
    ...filters.messages,
  ]
  if (messages.length > 0) return { ok: false, messages: messages.slice(0, messagesMax) }

  return {
    ok: true,
    value: {
      filters: filters.filters,
      startDate: body.startDate,
      endDate: body.endDate,
      attributionProfile: body.attributionProfile ?? 'IMP_1_DAY_CLK_14_DAYS',
      page: body.page ?? 0,
      limit: body.limit ?? reportLimits.limitMax,
      sortType: body.sortType ?? 'ASC',
      dateBreakdown: body.dateBreakdown ?? false,
      orderBy: body.orderBy ?? 'GTIN',
    },
  }
}

function orderFaults(body: ReportBody): readonly string[] {
  const isUnordered = body.orderBy === 'DATE' && body.dateBreakdown !== true
  return isUnordered ? ['/orderBy must not be DATE unless /dateBreakdown is true'] : []
}

interface ParsedFilters {
  readonly filters: readonly ReportFilter[]
  readonly messages: readonly string[]
}

function parseFilters(bodies: NonNullable<ReportBody['filters']>): ParsedFilters {
  const valueCount = bodies.reduce((count, { values }) => count + (values?.length ?? 0), 0)
  if (bodies.length > reportLimits.filtersMax) {
    return refused(`/filters must have at most ${reportLimits.filtersMax} items`)
  }
  if (valueCount > reportLimits.valuesMax) {
    return refused(`/filters must have at most ${reportLimits.valuesMax} values together`)
  }

  const messages: string[] = []
  const filters: ReportFilter[] = []
  for (const [index, { field, values }] of bodies.entries()) {
    const path = `/filters/${index}`
    // The interface marks neither as required, but a filter without them has no meaning to guess at.
    if (field === undefined) messages.push(`${path}/field is required`)
    if (values === undefined) messages.push(`${path}/values is required`)
    if (field === undefined || values === undefined) continue
    filters.push({ field, values: parseValues(values, { path: `${path}/values`, messages }) })
  }
  return { filters, messages }
}

function parseValues(
  values: readonly unknown[],
  faults: { readonly path: string; readonly messages: string[] }
): readonly string[] {
  const texts: string[] = []
  for (const [index, element] of values.entries()) {
    const text = textOf(element)
    const path = `${faults.path}/${index}`
    if (text === null) {
      faults.messages.push(
        `${path} must be a string, a finite number, or an object whose value is one`
      )
    } else if (text.trim() === '') {
      // One tool means everything by it, another nothing, a third what has no value.
      faults.messages.push(
        `${path} must not be empty or blank; leave the filter out to filter nothing`
      )
    } else if (!isText(text)) {
      faults.messages.push(`${path} must be text without lone surrogates or U+0000`)
    } else {
      texts.push(text)
    }
  }
  return texts
}

function textOf(element: unknown): string | null {
  const scalar = isWithValue(element) ? element.value : element
  if (typeof scalar === 'string') return scalar
  // String() of a double is its shortest decimal text; -0 becomes 0.
  return typeof scalar === 'number' && Number.isFinite(scalar) ? String(scalar) : null
}

/** Own properties only: `{}` must not find a value on a prototype. */
function isWithValue(element: unknown): element is { readonly value: unknown } {
  return typeof element === 'object' && element !== null && Object.hasOwn(element, 'value')
}

function refused(message: string): ParsedFilters {
  return { filters: [], messages: [message] }
}
