// Makes tokens of tracking data: each from an ad that is about to be served.
import { assert } from '../lib/assert.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { findUnknownFields } from '../lib/unknown-fields.ts'
import { encodeEnvelope, encodeHeader } from './envelope.ts'
import { activeKey, createPublisherCheck, type KeyRing } from './key-ring.ts'
import { toAsciiUrl } from './landing-url.ts'
import { encodePayload, type TrackingData } from './payload.ts'
import { createRandomPool, type RandomBytes } from './random-pool.ts'
import { findFaults, servedAtMsMin } from './rules.ts'
import { type Fault, formatFault, TrackingDataError } from './tracking-data-error.ts'
import { createXaes, xaesNonceBytes } from './xaes-256-gcm.ts'

type OptionalField = 'servedAtMs' | 'groupId' | 'userLoggedInId' | 'landingUrl'

/** An ad as it is about to be served. `servedAtMs` defaults to now, absent text to none. */
export type ServedAd = Omit<TrackingData, 'servedAdId' | OptionalField> & {
  readonly [Field in OptionalField]?: TrackingData[Field] | undefined
}

export interface MintedToken {
  readonly servedAdId: string
  /** The token as it goes into the links: unpadded base64url. */
  readonly trackingData: string
}

export interface Minter {
  /** A new token with a new id, also for the same ad. Throws a TrackingDataError with every fault. */
  mint(this: void, ad: ServedAd): MintedToken
  /** Every reason why `mint` would throw, including the publishers the active key is for. */
  check(this: void, ad: ServedAd): string[]
}

export interface MinterOptions {
  readonly clock?: Clock
  readonly random?: RandomBytes
  /** Tokens that share the first half of the nonce. */
  readonly tokensPerPrefixMax?: number
}

const noncePrefixBytes = 12
const servedAdIdBytes = 16

// Behind one prefix stand 96 random bits. For 2^24 tokens the chance that two are equal is 2^-49.
const tokensPerPrefixLimit = 16_777_216

/** Mints with the active key of the ring. One per process is enough; it holds no resources. */
export function createMinter(keyRing: KeyRing, options: MinterOptions = {}): Minter {
  const [unknown, ...others] = unknownFaults(options, minterFields)
  if (unknown !== undefined) throw new TrackingDataError('minter options', [unknown, ...others])
  const { clock = systemClock, random = createRandomPool() } = options
  const key = activeKey(keyRing)
  const header = encodeHeader(Number.parseInt(key.id, 16))
  const cipher = createXaes(key.key)
  const nextNonce = createNonces(random, options.tokensPerPrefixMax ?? tokensPerPrefixLimit)
  const isForPublisher = createPublisherCheck(key)

  function faultsOf(data: TrackingData) {
    const faults = [...findFaults(data), ...blankFaults(data)]
    if (!isForPublisher(data.publisherId)) {
      faults.push({ field: '/publisherId', rule: 'must be a publisher the active key is for' })
    }
    return faults
  }

  return {
    mint(ad) {
      const servedAdId = Buffer.from(random(servedAdIdBytes)).toString('hex')
      const data = completeAd(ad, { servedAdId, servedAtMs: clock() })
      const [fault, ...faults] = [...unknownFaults(ad, adFields), ...faultsOf(data)]
      if (fault !== undefined) throw new TrackingDataError('ad', [fault, ...faults])
      const nonce = nextNonce()
      const sealed = cipher.seal(encodePayload(data), { nonce, additionalData: header })
      return { servedAdId, trackingData: encodeEnvelope({ header, nonce, sealed }) }
    },
    check: (ad) =>
      [...unknownFaults(ad, adFields), ...faultsOf(completeAd(ad, checkDefaults))].map(formatFault),
  }
}

/** Every rule the ad breaks, as `/field must …`; empty if any unbound key would mint it. */
export function checkAd(ad: ServedAd): string[] {
  return faultsOfAd(ad).map(formatFault)
}

function faultsOfAd(ad: ServedAd): readonly Fault[] {
  const data = completeAd(ad, checkDefaults)
  return [...unknownFaults(ad, adFields), ...findFaults(data), ...blankFaults(data)]
}

/** Not a rule for tokens: ads that are shown already go on counting, whoever minted them. */
function blankFaults({ gtin }: TrackingData): readonly Fault[] {
  const isBlank = typeof gtin === 'string' && gtin !== '' && gtin.trim() === ''
  return isBlank ? [{ field: '/gtin', rule: 'must be text with a visible character' }] : []
}

// A check makes no token, so what the minter would add only has to pass.
const checkDefaults = { servedAdId: '0'.repeat(2 * servedAdIdBytes), servedAtMs: servedAtMsMin }

/** Fields of an ad in JavaScript that nobody would read: an ad without its landing page is charged too. */
const adFields: ReadonlySet<string> = new Set<keyof ServedAd>([
  'servedAtMs',
  'publisherId',
  'siteId',
  'marketId',
  'advertiserId',
  'campaignId',
  'adGroupId',
  'gtin',
  'groupId',
  'userId',
  'userLoggedInId',
  'currency',
  'costPerClickMicros',
  'costPerMilleMicros',
  'landingUrl',
])

const minterFields: ReadonlySet<string> = new Set<keyof MinterOptions>([
  'clock',
  'random',
  'tokensPerPrefixMax',
])

function unknownFaults(value: object, known: ReadonlySet<string>): readonly Fault[] {
  return findUnknownFields(value, known).map(({ name, rule }) => ({
    field: `/${name}`,
    rule: name === 'servedAdId' ? 'must be absent: minting makes it' : rule,
  }))
}

// Field by field: a spread would let unknown fields in, and made minting twice as slow.
function completeAd(
  ad: ServedAd,
  defaults: Pick<TrackingData, 'servedAdId' | 'servedAtMs'>
): TrackingData {
  const landingUrl = ad.landingUrl ?? ''
  return {
    servedAdId: defaults.servedAdId,
    servedAtMs: ad.servedAtMs ?? defaults.servedAtMs,
    publisherId: ad.publisherId,
    siteId: ad.siteId,
    marketId: ad.marketId,
    advertiserId: ad.advertiserId,
    campaignId: ad.campaignId,
    adGroupId: ad.adGroupId,
    gtin: ad.gtin,
    groupId: ad.groupId ?? '',
    userId: ad.userId,
    userLoggedInId: ad.userLoggedInId ?? '',
    currency: ad.currency,
    costPerClickMicros: ad.costPerClickMicros,
    costPerMilleMicros: ad.costPerMilleMicros,
    landingUrl: typeof landingUrl === 'string' ? toAsciiUrl(landingUrl) : landingUrl,
  }
}

/**
 * Nonces that share their first half for many tokens, so that openers derive the message key once
 * per minter and not once per token.
 */
function createNonces(random: RandomBytes, tokensPerPrefixMax: number): () => Buffer {
  assert(
    Number.isInteger(tokensPerPrefixMax) &&
      tokensPerPrefixMax >= 1 &&
      tokensPerPrefixMax <= tokensPerPrefixLimit,
    'tokensPerPrefixMax is an integer from 1 to 2^24'
  )
  let prefix: Uint8Array = new Uint8Array()
  let tokenCount = tokensPerPrefixMax

  return () => {
    if (tokenCount === tokensPerPrefixMax) {
      prefix = Uint8Array.from(random(noncePrefixBytes))
      tokenCount = 0
    }
    tokenCount += 1
    return Buffer.concat([prefix, random(xaesNonceBytes - noncePrefixBytes)])
  }
}
