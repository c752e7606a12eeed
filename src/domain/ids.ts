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
 * Reads an id in a path or a query. Each number has exactly one spelling (ASCII digits without sign,
 * blank or leading zero), so that caches and rate limits cannot be bypassed with `007` or `+7`.
 */
export function parsePositiveInt32(text: string): number | null {
  if (!/^[1-9][0-9]{0,9}$/.test(text)) return null
  const value = Number(text)
  return value <= int32Max ? value : null
}
