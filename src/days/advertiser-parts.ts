// Divides rows into parts, each of which one statement can sum within a bound of memory. Rows that are summed together
// are in one part.

import type { Params } from '../warehouse/warehouse.ts'

export interface AdvertiserCount {
  readonly advertiserId: number
  readonly rowCount: number
}

/** The condition of one part; its values are those of `divideRows`. */
export const advertiserPart = `advertiser_id >= {partFrom:Int32} AND advertiser_id <= {partTo:Int32}
        AND cityHash64(market_id, publisher_id, campaign_id, ad_group_id, gtin_key) % {partCount:UInt32} = {partIndex:UInt32}`

/**
 * Puts neighbouring advertisers together, which can be read without the others. A large advertiser is divided by a hash
 * of the columns that name a row of a report, because the sums of these rows take the memory.
 */
export function divideRows(
  advertisers: readonly AdvertiserCount[],
  rowsMax: number
): readonly Params[] {
  const ranges: { from: number; to: number; rowCount: number }[] = []
  for (const { advertiserId, rowCount } of advertisers) {
    const last = ranges.at(-1)
    if (last !== undefined && last.rowCount + rowCount <= rowsMax) {
      last.to = advertiserId
      last.rowCount += rowCount
    } else {
      ranges.push({ from: advertiserId, to: advertiserId, rowCount })
    }
  }
  return ranges.flatMap(({ from, to, rowCount }) => {
    const count = Math.ceil(rowCount / rowsMax)
    return Array.from({ length: count }, (_, index) => ({
      partFrom: from,
      partTo: to,
      partCount: count,
      partIndex: index,
    }))
  })
}
