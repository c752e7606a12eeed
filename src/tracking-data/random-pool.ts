import { randomFillSync } from 'node:crypto'

/** Random bytes of the asked-for length, never the same ones twice. */
export type RandomBytes = (length: number) => Uint8Array

const poolBytes = 8_192

/**
 * Reads the system's generator once per 8 KiB, because a call costs several microseconds whatever its length,
 * as much as sealing a token.
 */
export function createRandomPool(): RandomBytes {
  let pool = Buffer.alloc(0)
  let usedBytes = 0
  return (length) => {
    if (length > pool.length - usedBytes) {
      // A new buffer, because slices of the old one are still in the callers' hands.
      pool = randomFillSync(Buffer.alloc(Math.max(poolBytes, length)))
      usedBytes = 0
    }
    usedBytes += length
    return pool.subarray(usedBytes - length, usedBytes)
  }
}
