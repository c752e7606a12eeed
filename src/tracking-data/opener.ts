// Opens tokens of tracking data, and says why one is refused.
import { BatchKeyCache } from './batch-keys.ts'
import { decodeEnvelope, type EnvelopeRefusal } from './envelope.ts'
import type { SealedMessage } from './gcm-batch.ts'
import { createPublisherCheck, type KeyRing, type TrackingKey } from './key-ring.ts'
import { decodePayload } from './payload-reader.ts'
import type { TrackingData } from './payload.ts'
import { isValid } from './rules.ts'
import { createXaes, type Xaes } from './xaes-256-gcm.ts'

export type OpenRefusal =
  | EnvelopeRefusal
  | 'unknown-key'
  | 'not-authentic'
  | 'malformed'
  | 'foreign-publisher'
  | 'invalid'

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
   * The results of `open` for each, in their order, at a fraction of the cost where many were made by the
   * same minter.
   */
  openAll(this: void, texts: readonly string[]): OpenedToken[]
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
