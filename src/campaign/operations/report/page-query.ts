import type { QueryReader, QueryRule } from '../../../http/query-reader.ts'
import { parseInt32Text } from '../../../http/query-text.ts'
import { reportLimits } from '../../../contract/report-request.ts'

/** `page` and `limit` of a query, with the defaults and bounds of the report's body. */
export function readPageQuery(reader: QueryReader): {
  readonly page: number
  readonly limit: number
} {
  return {
    page: reader.optional('page', pageRule) ?? 0,
    limit: reader.optional('limit', limitRule) ?? reportLimits.limitMax,
  }
}

const pageRule = integerRule(0, reportLimits.pageMax)
const limitRule = integerRule(1, reportLimits.limitMax)

function integerRule(min: number, max: number): QueryRule<number> {
  return {
    rule: `an integer from ${min} to ${max}`,
    parse: (text) => {
      const value = parseInt32Text(text)
      return value !== null && value >= min && value <= max ? value : null
    },
  }
}
