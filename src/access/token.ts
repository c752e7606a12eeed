// The secret text of a key, and the ids of keys.
import { createHash, randomBytes } from 'node:crypto'
import { ServiceError } from '../errors.ts'

const keyPrefix = 'st_'
const secretBytes = 32
const idBytes = 9
export const adminKeyLengthMin = 16

export function newToken(): string {
  return keyPrefix + randomBytes(secretBytes).toString('base64url')
}

export function newId(): string {
  return `key_${randomBytes(idBytes).toString('base64url')}`
}

/** 256 random bits need no slow hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest()
}

/** Throws CONFIG_INVALID for a key that could be guessed; a blank one would let everyone in. */
export function checkAdminKey(adminKey: string): string {
  const isStrong = adminKey.length >= adminKeyLengthMin && /^[!-~]+$/.test(adminKey)
  if (isStrong) return adminKey
  throw new ServiceError(
    'CONFIG_INVALID',
    `the admin key must have at least ${adminKeyLengthMin} printable ASCII characters and no blanks`
  )
}
