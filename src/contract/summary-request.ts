// The body of the overview: the totals of many advertisers, for people who look after more than one.
import { Type } from 'typebox'
import { closed } from './closed.ts'
import { convertToField, parseConvertTo } from './convert-to.ts'
import { catalogId, dateText, int32, optional, wordOf, type Of } from './fields.ts'
import { rangeFaults } from './parameters.ts'
import {
  attributionProfiles,
  questionFaults,
  reportDefaults,
  reportLimits,
  type AttributionProfile,
} from './report-request.ts'
import { compileParser, type Parsed } from './validate.ts'

export const summaryLimits = {
  /** Of a page. With all their days in several currencies this is an answer of some megabytes. */
  advertisersMax: 200,
  /** What a small chart can show. */
  trendDaysMax: 62,
} as const

interface Days {
  readonly startDate: string
  readonly endDate: string
}

export interface SummaryRequest extends Days {
  /** Null: all that the key may read. */
  readonly advertiserIds: readonly number[] | null
  readonly attributionProfile: AttributionProfile
  /** Null: none. */
  readonly comparison: Days | null
  readonly trendDays: number
  readonly convertTo: string | null
  /** Only advertisers with greater ids. */
  readonly after: number
  readonly limit: number
}

const range = {
  startDate: dateText('First day, in the time zone of each market.'),
  endDate: dateText(`Last day, included; at most ${reportLimits.daysMax} days in all.`),
}

export const summaryRequestSchema = closed(
  Type.Object(
    {
      advertiserIds: optional(
        Type.Array(catalogId(), {
          minItems: 1,
          maxItems: summaryLimits.advertisersMax,
          uniqueItems: true,
          description: 'All that the key may read when absent.',
        })
      ),
      ...range,
      attributionProfile: optional(
        wordOf(attributionProfiles, { default: reportDefaults.attributionProfile })
      ),
      comparison: optional(
        Type.Object(range, { description: 'A period whose totals are answered as well.' })
      ),
      trendDays: optional(
        int32({
          minimum: 0,
          maximum: summaryLimits.trendDaysMax,
          default: 0,
          description:
            'How many days up to `endDate` are answered one by one. They may begin before `startDate`.',
        })
      ),
      convertTo: convertToField,
      after: optional(catalogId('The `next` of the page before; the first page when absent.')),
      limit: optional(
        int32({
          minimum: 1,
          maximum: summaryLimits.advertisersMax,
          default: summaryLimits.advertisersMax,
          description: 'Advertisers of a page at most.',
        })
      ),
    },
    { title: 'SpaProductSummaryRequest' }
  )
)

/** The request as it is sent. */
export type SummaryBody = Of<typeof summaryRequestSchema>

const parseBody = compileParser(summaryRequestSchema)

export function parseSummaryRequest(value: unknown): Parsed<SummaryRequest> {
  const parsed = parseBody(value)
  if (!parsed.ok) return parsed

  const body = parsed.value
  const { convertTo, faults: currencyFaults } = parseConvertTo(body.convertTo)
  const { comparison = null } = body
  const faults = questionFaults(body, [
    ...(comparison === null ? [] : rangeFaults(comparison, reportLimits.daysMax, '/comparison/')),
    ...currencyFaults,
  ])
  if (faults !== null) return faults

  return {
    ok: true,
    value: {
      advertiserIds: body.advertiserIds ?? null,
      startDate: body.startDate,
      endDate: body.endDate,
      attributionProfile: body.attributionProfile ?? reportDefaults.attributionProfile,
      comparison,
      trendDays: body.trendDays ?? 0,
      convertTo,
      after: body.after ?? 0,
      limit: body.limit ?? summaryLimits.advertisersMax,
    },
  }
}
