import { pageLimits } from '../contract/catalog-pages.ts'
import { usageError } from './cli-error.ts'

/** The value of `--limit`, or null where there is none. */
export function readPageLimit({ limit }: Readonly<Record<string, unknown>>): string | null {
  if (typeof limit !== 'string') return null
  const isGood = /^[1-9]\d{0,3}$/.test(limit) && Number(limit) <= pageLimits.max
  if (!isGood) throw usageError(`--limit must be an integer from 1 to ${pageLimits.max}`)
  return limit
}
