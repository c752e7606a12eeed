// Raw ids never reach the disk, only keyed hashes do. Without the secret nobody can test whether a
// given shopper is among the touchpoints, and the same id at two publishers is two identities.
import { createHmac } from 'node:crypto'
import { assert } from '../lib/assert.ts'
import { unlessPlaceholder } from './placeholder.ts'
import { createShortHmac } from './short-hmac.ts'

export type IdentityKind = 'user' | 'login'

/** Returns 32 lower-case hex characters, or '' when the id is no identity. */
export type IdentityHasher = (kind: IdentityKind, publisherId: number, id: string) => string

/** The first 16 bytes of the HMAC: at 10^12 identities a collision still has odds of 10^-15. */
const identityHexLength = 32

/** A shorter secret could be guessed, and with it every id that hashes to a known identity. */
const secretBytesMin = 16

/**
 * Hashes ids under the secret. It looks for placeholders first, so that no caller can turn a placeholder into an
 * identity. The hashed text is kind, publisher and id with U+0000 between: neither a kind nor a number
 * contains one, so two different triples never give the same text. One hash takes about a microsecond.
 */
export function createIdentityHasher(secret: Buffer): IdentityHasher {
  assert(secret.length >= secretBytesMin, 'an identity secret has at least 16 bytes')
  const shortHmac = createShortHmac(secret)
  return (kind, publisherId, id) => {
    if (unlessPlaceholder(id) === '') return ''
    const text = `${kind}\0${publisherId}\0${id}`
    return shortHmac(text) ?? longHmac(secret, text)
  }
}

/** Few ids are long or beyond ASCII, so these may take five times as long. */
function longHmac(secret: Buffer, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex').slice(0, identityHexLength)
}
