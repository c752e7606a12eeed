// Decides who may call: checks the key, then its rate, then its rights.
import type { FastifyRequest } from 'fastify'
import { authorize, type Authentication, type Party } from '../access/authenticate.ts'
import { identify, type SignOn } from '../access/sign-on.ts'
import { refuse, type Answer } from '../http/handler.ts'
import type { AccessKey } from '../access/key.ts'
import { createRateLimiter, type RateLimiter } from '../http/rate-limit.ts'
import { networkOf, sourceAddress } from '../http/source-address.ts'
import type { Access, Operation } from '../contract/operation.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import type { CampaignDeps } from './deps.ts'
import type { RefusalReason } from './refused-calls.ts'

export const limits = {
  requestsPerMinuteDefault: 600,
  /** Refused keys per network: as many requests as a right key has, so that a fault shows as 401. */
  refusedKeysPerMinuteMax: 600,
} as const

type Headers = Readonly<Record<string, string>>

/** Either the key of the caller (null where none is asked for), or the refusal. */
export type Admission =
  | { readonly ok: true; readonly key: AccessKey | null; readonly headers: Headers }
  | {
      readonly ok: false
      readonly key: AccessKey | null
      readonly answer: Answer
      /** Null for a refusal that says nothing about the caller. */
      readonly reason: RefusalReason | null
      /** Of a key of ours that was presented, valid or not. */
      readonly keyId: string | null
    }

type AdmissionDeps = Pick<
  CampaignDeps,
  'keys' | 'clock' | 'requestsPerMinuteMax' | 'trustProxy' | 'signOn'
>

export class Admissions {
  readonly #keys: CampaignDeps['keys']
  readonly #trustProxy: boolean
  readonly #signOn: SignOn | null
  readonly #rates: RateLimiter
  readonly #refusedKeys: RateLimiter

  constructor({
    keys,
    clock,
    requestsPerMinuteMax,
    trustProxy = false,
    signOn = null,
  }: AdmissionDeps) {
    this.#keys = keys
    this.#trustProxy = trustProxy
    this.#signOn = signOn
    this.#rates = createRateLimiter({
      clock,
      requestsPerMinuteMax: requestsPerMinuteMax ?? limits.requestsPerMinuteDefault,
    })
    this.#refusedKeys = createRateLimiter({
      clock,
      requestsPerMinuteMax: limits.refusedKeysPerMinuteMax,
    })
  }

  /** Throws ACCESS_STALE when keys cannot be checked. */
  admit({ access }: Operation, request: FastifyRequest): Admission {
    if (access === null) return { ok: true, key: null, headers: {} }
    const authentication = identify(
      { rawHeaders: request.raw.rawHeaders, directAddress: sourceAddress(request.raw, false) },
      { keys: this.#keys, signOn: this.#signOn }
    )
    if (!authentication.ok) return this.#refuseKey(authentication, request)

    const { key } = authentication
    const rate = this.#takeRate(key)
    if (!rate.ok) return rate
    const party = partyOf(access, request)
    const authorization = authorize(key, {
      scope: access.scope,
      otherScopes: access.otherScopes,
      party,
    })
    if (authorization.ok) return rate
    const answer = refuse(authorization.code, [authorization.message])
    return {
      ok: false,
      key,
      answer: { ...answer, headers: rate.headers },
      reason: 'forbidden',
      keyId: key.id,
    }
  }

  /**
   * Asked only after the key was found wrong, which costs one hash: a right key is never shut out by
   * a flood of wrong ones, not even from the same address (an office, or a proxy that is not trusted
   * by mistake). Guessing is hopeless at any rate: a key is 256 random bits.
   */
  #refuseKey(refused: Authentication & { readonly ok: false }, { raw }: FastifyRequest): Admission {
    const rate = this.#refusedKeys.take(networkOf(sourceAddress(raw, this.#trustProxy) ?? ''))
    const refusal = refuse(refused.code, [refused.message])
    const scheme = refusal.status === 401 ? { headers: { 'www-authenticate': 'Bearer' } } : {}
    const answer: Answer = rate.isAllowed
      ? { ...refusal, ...scheme }
      : {
          ...refuse('ADDRESS_RATE_EXCEEDED', [
            'Too many requests without a valid key came from this address.',
          ]),
          headers: { 'retry-after': String(rate.retryAfterSeconds) },
        }
    const reason = rate.isAllowed ? refused.reason : 'too-many-refused-keys'
    return { ok: false, key: null, answer, reason, keyId: refused.keyId }
  }

  #takeRate(key: AccessKey): Admission {
    if (key.isConfigured) return { ok: true, key, headers: {} }
    const rate = this.#rates.take(key.id)
    // The names of draft-ietf-httpapi-ratelimit-headers up to 06; `retry-after` goes before them.
    const headers = {
      'ratelimit-limit': String(rate.limit),
      'ratelimit-remaining': String(rate.remaining),
      'ratelimit-reset': String(rate.resetSeconds),
    }
    if (rate.isAllowed) return { ok: true, key, headers }
    const answer = refuse('KEY_RATE_EXCEEDED', [`A key may send ${rate.limit} requests a minute.`])
    const retryAfter = { 'retry-after': String(rate.retryAfterSeconds) }
    return {
      ok: false,
      key,
      answer: { ...answer, headers: { ...headers, ...retryAfter } },
      reason: 'limit',
      keyId: key.id,
    }
  }
}

function partyOf(access: Access, request: FastifyRequest): Party | null {
  if (access.isAdvertiserBound) return { kind: 'advertiser', id: idOf(request, 'advertiserId') }
  if (access.isPublisherBound === true) {
    return { kind: 'publisher', id: idOf(request, 'publisherId') }
  }
  return null
}

/** Text that is not an id names nobody; only a key for all advertisers gets as far as a 404. */
function idOf(request: FastifyRequest, name: string): number | 'none-such' {
  return parsePositiveInt32(pathParametersOf(request)[name] ?? '') ?? 'none-such'
}

export function pathParametersOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(params ?? {})) parameters[name] = String(value)
  return parameters
}
