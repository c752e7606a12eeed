// The body of the report download, and every rule of it that needs no catalog. What comes out is
// normalized: defaults filled in, filter values as text, names from closed lists.
import { Type, type TSchema, type TUnknown } from 'typebox'
import { closed } from './closed.ts'
import { isText } from '../domain/text.ts'
import { dateRange, dateText, flag, int32, named, optional, wordOf, type Of } from './fields.ts'
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

/** What is meant where a request leaves it out. */
export const reportDefaults = {
  attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
  page: 0,
  limit: reportLimits.limitMax,
  sortType: 'ASC',
  dateBreakdown: false,
  orderBy: 'GTIN',
} as const

const scalarSchemas = [Type.String(), Type.Number()] as const

/** The interface says "object" and leaves its shape open; what else an object holds is ignored. */
const filterValueSchema = Type.Union(
  [
    ...scalarSchemas,
    Type.Object({ value: Type.Union([...scalarSchemas]) }, { additionalProperties: true }),
  ],
  { description: 'The text or the number itself, or an object whose `value` is one.' }
)

// The interface marks neither as required, but a filter without them has no meaning to guess at.
function filterSchema<Value extends TSchema>(value: Value) {
  return named('SpaProductReportFilter', {
    field: wordOf(filterFields),
    values: Type.Array(value, {
      maxItems: reportLimits.valuesMax,
      description: `Any of them matches. The filters have at most ${reportLimits.valuesMax} together.`,
    }),
  })
}

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

// The interface's schema marks page and limit as required, the rule text of its operation calls them
// optional; requiring them would refuse callers who go by the text, so they are optional here.
function requestSchema<Value extends TSchema>(value: Value) {
  return closed(
    Type.Object(
      {
        filters: optional(
          Type.Array(filterSchema(value), {
            maxItems: reportLimits.filtersMax,
            description: 'All of them must match.',
          })
        ),
        startDate: dateText('First day, in the time zone of the market.'),
        endDate: dateText(`Last day, included; at most ${reportLimits.daysMax} days in all.`),
        attributionProfile: profile,
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
      },
      { title: 'SpaProductReportRequest' }
    )
  )
}

export const reportRequestSchema = requestSchema(filterValueSchema)

export const attributionsQuerySchema = Type.Object({
  ...reportRange,
  attributionProfile: profile,
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

// The values are checked below, with messages that tell their faults apart.
const parseBody = compileParser(requestSchema(Type.Unknown()))
const messagesMax = 20

/** The shape is right; the values of filters may be anything. */
type ShapedBody = Of<ReturnType<typeof requestSchema<TUnknown>>>

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
      attributionProfile: body.attributionProfile ?? reportDefaults.attributionProfile,
      page: body.page ?? reportDefaults.page,
      limit: body.limit ?? reportDefaults.limit,
      sortType: body.sortType ?? reportDefaults.sortType,
      dateBreakdown: body.dateBreakdown ?? reportDefaults.dateBreakdown,
      orderBy: body.orderBy ?? reportDefaults.orderBy,
    },
  }
}

function orderFaults(body: ShapedBody): readonly string[] {
  const isUnordered = body.orderBy === 'DATE' && body.dateBreakdown !== true
  return isUnordered ? ['/orderBy must not be DATE unless /dateBreakdown is true'] : []
}

interface ParsedFilters {
  readonly filters: readonly ReportFilter[]
  readonly messages: readonly string[]
}

function parseFilters(bodies: NonNullable<ShapedBody['filters']>): ParsedFilters {
  const valueCount = bodies.reduce((count, { values }) => count + values.length, 0)
  if (valueCount > reportLimits.valuesMax) {
    const message = `/filters must have at most ${reportLimits.valuesMax} values together`
    return { filters: [], messages: [message] }
  }
  const messages: string[] = []
  const filters = bodies.map(({ field, values }, index) => {
    const path = `/filters/${index}/values`
    return { field, values: parseValues(values, { path, messages }) }
  })
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
