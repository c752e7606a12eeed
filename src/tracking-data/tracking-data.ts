/**
 * Mints and opens tracking data: one sealed token per served ad. This is the public entry of the
 * library, `shelftrace/tracking-data`, and needs nothing else of the service. The format, for
 * other languages, is in docs/tracking-data.md.
 */
import { assert } from '../lib/assert.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { findUnknownFields } from '../lib/unknown-fields.ts'
import { BatchKeyCache } from './batch-keys.ts'
import { decodeEnvelope, encodeEnvelope, encodeHeader, type EnvelopeRefusal } from './envelope.ts'
import type { SealedMessage } from './gcm-batch.ts'
import { activeKey, createPublisherCheck, type KeyRing, type TrackingKey } from './key-ring.ts'
import { toAsciiUrl } from './landing-url.ts'
import { decodePayload } from './payload-reader.ts'
import { encodePayload, type TrackingData } from './payload.ts'
import { createRandomPool, type RandomBytes } from './random-pool.ts'
import { findFaults, isValid, servedAtMsMin } from './rules.ts'
import { type Fault, formatFault, TrackingDataError } from './tracking-data-error.ts'
import { createXaes, type Xaes, xaesNonceBytes } from './xaes-256-gcm.ts'

export { parseCostMicros } from './cost.ts'
export {
  activateKey,
  addKey,
  createKeyRing,
  formatKeyRing,
  type KeyRing,
  type NewKeyOptions,
  parseKeyRing,
  removeKey,
  type TrackingKey,
} from './key-ring.ts'
export type { TrackingData } from './payload.ts'
export type { RandomBytes } from './random-pool.ts'
export { type Fault, TrackingDataError } from './tracking-data-error.ts'

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

export type OpenRefusal =
  EnvelopeRefusal | 'unknown-key' | 'not-authentic' | 'malformed' | 'foreign-publisher' | 'invalid'

export type OpenedToken =
  | {
      readonly ok: true
      readonly data: TrackingData
      /** The same for every accepted spelling of one token: they are one event. */
      readonly canonical: string
    }
  | { readonly ok: false; readonly reason: OpenRefusal }

export interface Opener {
  /** The ad in a token, or why there is none. Never throws, whatever the text. */
  open(this: void, text: string): OpenedToken
  /**
   * What `open` gives for each, in their order, at a fraction of the cost where many were made by the
   * same minter.
   */
  openAll(this: void, texts: readonly string[]): OpenedToken[]
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
    const faults = findFaults(data)
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
  return [...unknownFaults(ad, adFields), ...findFaults(completeAd(ad, checkDefaults))].map(
    formatFault
  )
}

/** Opens tokens of every key in the ring. Holds a bounded cache of derived keys per key. */
export function createOpener(keyRing: KeyRing): Opener {
  const batchKeys = new BatchKeyCache()
  const keys = new Map(
    keyRing.keys.map((key) => [Number.parseInt(key.id, 16), openKey(key, batchKeys)])
  )

  function takeApart(text: string): SealedToken | Refused {
    const envelope = decodeEnvelope(text)
    if (!envelope.ok) return envelope
    const { keyId, nonce, sealed, header, canonical } = envelope
    const key = keys.get(keyId)
    if (key === undefined) return { ok: false, reason: 'unknown-key' }
    const message = { nonce, sealed, additionalData: header }
    return { ok: true, key, message, canonical, plaintext: undefined }
  }

  return {
    open(text) {
      const token = takeApart(text)
      if (!token.ok) return token
      token.plaintext = token.key.cipher.open(token.message.sealed, token.message)
      return read(token)
    },

    openAll(texts) {
      const tokens = texts.map(takeApart)
      for (const [{ cipher }, batch] of byKey(tokens)) {
        const plaintexts = cipher.openAll(batch.map(({ message }) => message))
        for (const [index, token] of batch.entries()) token.plaintext = plaintexts[index]
      }
      return tokens.map((token) => (token.ok ? read(token) : token))
    },
  }
}

type Refused = Extract<OpenedToken, { ok: false }>

interface OpenKey {
  readonly cipher: Xaes
  isForPublisher(this: void, publisherId: number): boolean
}

interface SealedToken {
  readonly ok: true
  readonly key: OpenKey
  readonly message: SealedMessage
  readonly canonical: string
  /** Set by the cipher, and only if the token is authentic. */
  plaintext: Buffer | undefined
}

function openKey(key: TrackingKey, batchKeys: BatchKeyCache): OpenKey {
  const cipher = createXaes(key.key, { batchKeys })
  return { cipher, isForPublisher: createPublisherCheck(key) }
}

function byKey(tokens: readonly (SealedToken | Refused)[]): Map<OpenKey, SealedToken[]> {
  const batches = new Map<OpenKey, SealedToken[]>()
  for (const token of tokens) {
    if (!token.ok) continue
    const batch = batches.get(token.key)
    if (batch === undefined) batches.set(token.key, [token])
    else batch.push(token)
  }
  return batches
}

function read({ key, canonical, plaintext }: SealedToken): OpenedToken {
  if (plaintext === undefined) return { ok: false, reason: 'not-authentic' }
  const data = decodePayload(plaintext)
  if (data === undefined) return { ok: false, reason: 'malformed' }
  if (!key.isForPublisher(data.publisherId)) return { ok: false, reason: 'foreign-publisher' }
  if (!isValid(data)) return { ok: false, reason: 'invalid' }
  return { ok: true, data, canonical }
}

// A check makes no token, so what the minter would add only has to pass.
const checkDefaults = { servedAdId: '0'.repeat(2 * servedAdIdBytes), servedAtMs: servedAtMsMin }

// Field by field: a spread would let unknown fields in, and made minting twice as slow.
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
