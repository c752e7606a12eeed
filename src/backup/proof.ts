// What tells a backup of this installation from one that somebody else wrote or altered: a MAC over its
// manifest, which has the digest of the list of files, which has those of all files. The key is derived
// from the identity secret, which a restore needs anyway and no backup holds.

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One line: HMAC-SHA-256 of `manifest.json`, in hex. */
export const proofName = 'manifest.hmac'

export function deriveProofKey(identitySecret: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', identitySecret, '', 'shelftrace backup manifest', 32))
}

export function proofOf(key: Buffer, manifestText: string): string {
  return `${createHmac('sha256', key).update(manifestText).digest('hex')}\n`
}

export type Proof = 'right' | 'wrong' | 'missing'

export function checkProof(folder: string, key: Buffer, manifestText: string): Proof {
  const found = readOrNull(join(folder, proofName))
  if (found === null) return 'missing'
  const expected = Buffer.from(proofOf(key, manifestText))
  return found.length === expected.length && timingSafeEqual(found, expected) ? 'right' : 'wrong'
}

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
