// The body of a report as sums: that of the report, with more fields to filter by, and an interval.
import { Type, type TSchema } from 'typebox'
import { closed } from './closed.ts'
import { convertToField, parseConvertTo } from './convert-to.ts'
import { intervals, type Interval } from '../domain/interval.ts'
import { optional, wordOf, type Of } from './fields.ts'
import { filterFields, filterValueSchema, parseFilters } from './report-filters.ts'
import {
  orderFaults,
  questionFaults,
  questionFields,
  rowsFields,
  withDefaults,
  type ReportRequest,
} from './report-request.ts'
import { compileParser, type Parsed } from './validate.ts'

/** Paging, order and breakdown have no effect: the body of a report may be sent as it is. */
export interface SeriesRequest extends ReportRequest {
  readonly interval: Interval
  /** A currency in which the sums of all are shown as well. */
  readonly convertTo?: string | null
}

const defaultInterval: Interval = 'DAY'

/** The filter of everything that is not the report of the interface. */
export const anyFilter = { title: 'SpaReportFilter', fields: filterFields } as const

function requestSchema<Value extends TSchema>(value: Value) {
  const interval = optional(
    wordOf(intervals, {
      default: defaultInterval,
      description:
        'What the sums of `days` are of: days, weeks from Monday, or calendar months. Of weeks and months ' +
        'that the range cuts, only the days inside it count.',
    })
  )
  return closed(
    Type.Object(
      {
        ...questionFields({ ...anyFilter, value }),
        ...rowsFields,
        interval,
        convertTo: convertToField,
      },
      { title: 'SpaProductSeriesRequest' }
    )
  )
}

export const seriesRequestSchema = requestSchema(filterValueSchema)

/** The request as it is sent. */
export type SeriesBody = Of<typeof seriesRequestSchema>

const parseBody = compileParser(requestSchema(Type.Unknown()))

export function parseSeriesRequest(value: unknown): Parsed<SeriesRequest> {
  const parsed = parseBody(value)
  if (!parsed.ok) return parsed

  const body = parsed.value
  const { filters, messages } = parseFilters(body.filters ?? [])
  const { interval = defaultInterval } = body
  const { convertTo, faults: ownFaults } = parseConvertTo(body.convertTo)
  const faults = questionFaults(body, [...orderFaults(body), ...messages, ...ownFaults])
  return (
    faults ?? {
      ok: true,
      value: { ...withDefaults(body), filters, interval, ...(convertTo !== null && { convertTo }) },
    }
  )
}
