// The secret text of a key, and the ids of keys.
import { createHash, randomBytes } from 'node:crypto'
import { ServiceError } from '../errors.ts'

const keyPrefix = 'st_'
const secretBytes = 32
const idBytes = 9
const adminKeyLengthMin = 32

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

export const adminKeyRule = `at least ${adminKeyLengthMin} printable ASCII characters and no blanks`

/** A weaker one could be guessed, and a blank one would let everyone in. */
export function isAdminKey(text: string): boolean {
  return text.length >= adminKeyLengthMin && /^[!-~]+$/.test(text)
}

/** Throws CONFIG_INVALID. */
export function checkAdminKey(adminKey: string): string {
  if (isAdminKey(adminKey)) return adminKey
  throw new ServiceError('CONFIG_INVALID', `the admin key must have ${adminKeyRule}`)
}
