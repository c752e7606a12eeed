import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { PresentedKey } from '../spool/record.ts'
import { isSaidTwice } from '../http/head-fault.ts'

// A key is `st_` and 32 bytes as base64url; the scheme in any case (RFC 9110, section 11.1).
const bearerKey = /^[Bb][Ee][Aa][Rr][Ee][Rr] +(st_[A-Za-z0-9_-]{43})$/

/**
 * The key of the Authorization header, as it is written down. Nothing here is ever refused, so that a mistake
 * with a key costs no purchase. Of several headers nobody can tell which one was meant.
 */
export function presentedKey({ headers, rawHeaders }: IncomingMessage): PresentedKey {
  const { authorization } = headers
  if (authorization === undefined) return 'none'
  const key = isSaidTwice(rawHeaders, 'authorization')
    ? undefined
    : bearerKey.exec(authorization)?.[1]
  return key === undefined ? 'malformed' : hash('sha256', key)
}
