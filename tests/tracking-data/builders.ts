import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import type { RandomBytes, ServedAd, TrackingData } from '../../src/tracking-data/tracking-data.ts'

export const servedAtMs = Date.UTC(2026, 2, 2, 10)

/** An ad that mints, with every field set. */
export function anAd(changes: Partial<ServedAd> = {}): ServedAd {
  return {
    servedAtMs,
    publisherId: 10,
    siteId: 101,
    marketId: 1,
    advertiserId: 7,
    campaignId: 1001,
    adGroupId: 5001,
    gtin: '4006381333931',
    groupId: 'GRP1',
    userId: 'user-1',
    userLoggedInId: 'customer-1',
    currency: 'EUR',
    costPerClickMicros: 250_000n,
    costPerMilleMicros: 1_500_000n,
    landingUrl: 'https://shop.example/coffee?id=1#top',
    ...changes,
  }
}

/** Repeatable bytes: the hash of a seed and a counter. */
export function createTestRandom(seed: string): RandomBytes {
  let count = 0
  return (length) => {
    count += 1
    const hash = createHash('shake256', { outputLength: length })
    return hash.update(`${seed}/${count}`).digest()
  }
}

const id = fc.integer({ min: 1, max: 2_147_483_647 })
const cost = fc.bigInt({ min: 0n, max: 10n ** 12n })

/** Text that a token may hold: whole characters of all planes, no U+0000. */
export function text(lengthMin: number, lengthMax: number) {
  // A grapheme can be many code points, so the units are code points.
  return fc
    .string({ unit: 'binary', minLength: lengthMin, maxLength: lengthMax, size: 'max' })
    .filter((value) => !value.includes('\0'))
}

/** Everything that a token may hold. Ads for a blank GTIN open, but none is minted any more. */
export const validData: fc.Arbitrary<TrackingData> = fc.record(
  {
    servedAdId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => toHex(bytes)),
    servedAtMs: fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2100, 0, 1) }),
    publisherId: id,
    siteId: id,
    marketId: id,
    advertiserId: id,
    campaignId: id,
    adGroupId: id,
    gtin: text(1, 60),
    groupId: text(0, 60),
    userId: text(0, 128),
    userLoggedInId: text(0, 128),
    currency: fc.stringMatching(/^[A-Z]{3}$/),
    costPerClickMicros: cost,
    costPerMilleMicros: cost,
    landingUrl: fc.constantFrom(
      '',
      'https://shop.example',
      'http://shop.example:8080/a?b=c&d=%C3%A4'
    ),
  },
  { noNullPrototype: true }
)

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
