const int32Max = 2_147_483_647
const int32Min = -2_147_483_648

export function isInt32(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= int32Min && Number(value) <= int32Max
}

/** The ids of publishers, sites, markets, advertisers, campaigns and ad groups. */
export function isPositiveInt32(value: unknown): value is number {
  return isInt32(value) && value > 0
}

/**
 * Reads an id in a path or a query. Exactly one spelling per number, so that caches and rate limits
 * cannot be passed by with `007` or `+7`: ASCII digits without sign, blank or leading zero.
 */
export function parsePositiveInt32(text: string): number | null {
  if (!/^[1-9][0-9]{0,9}$/.test(text)) return null
  const value = Number(text)
  return value <= int32Max ? value : null
}
