import type { Scope } from '../contract/admin.ts'
import { invitationScope } from '../contract/invitations.ts'
import type { RefusalCode } from '../contract/refusal-codes.ts'
import type { AccessKey, PartyIds } from './key.ts'
import type { KeyStore, RefusedKey } from './key-store.ts'

export type Authentication =
  | { readonly ok: true; readonly key: AccessKey }
  | {
      readonly ok: false
      readonly code: RefusalCode
      readonly message: string
      /** For the log, which may tell what the caller must not learn. */
      readonly reason:
        | 'no-key'
        | 'malformed-key'
        | 'unknown-key'
        | RefusedKey['reason']
        | SignOnRefusal
      readonly keyId: string | null
    }

/** Why the header of a proxy's sign-on did not do. */
type SignOnRefusal =
  | 'foreign-sign-on'
  | 'malformed-sign-on'
  | 'cross-site'
  | 'changed-person'
  | 'unknown-person'

export type Authorization =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: RefusalCode; readonly message: string }

/** Whom the path of a call names. */
export interface Party {
  readonly kind: 'advertiser' | 'publisher'
  readonly id: number | 'none-such'
}

/** What a call needs. A null `party` means that the call is not bound to anyone. */
export interface Demand {
  readonly scope: Scope | typeof invitationScope
  readonly otherScopes?: readonly Scope[] | undefined
  readonly party: Party | null
}

// RFC 6750: one token of the base64 alphabets and a few marks more, after any number of blanks.
const bearerForm = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/**
 * Who calls, by the raw header lines of the request (name, value, name, value): parsed headers show
 * only the first of two `Authorization` lines, and a proxy may have checked the second. Throws
 * ACCESS_STALE when keys cannot be checked. Messages never repeat what was sent.
 */
export function authenticate(
  rawHeaders: readonly string[],
  keys: Pick<KeyStore, 'find' | 'findRefused'>
): Authentication {
  const [header, ...others] = headerLines(rawHeaders, 'authorization')
  if (header === undefined) {
    return malformed('A key is required: Authorization: Bearer <key>.', 'no-key')
  }
  if (others.length > 0) return malformed('There must be one Authorization header only.')
  const token = bearerForm.exec(header.trim())?.[1]
  if (token === undefined) {
    return malformed('The Authorization header must be of the form: Bearer <key>.')
  }
  const key = keys.find(token)
  if (key !== null) return { ok: true, key }
  const { keyId, reason } = keys.findRefused(token) ?? { keyId: null, reason: 'unknown-key' }
  // The same code and message for unknown, expired and revoked keys, so that nobody learns which keys existed.
  return { ok: false, code: 'KEY_INVALID', message: 'The key is not valid.', reason, keyId }
}

/**
 * Whether the key may do it. The answer is the same whether or not the advertiser or publisher
 * exists, so that no key learns which ids do.
 */
export function authorize(key: AccessKey, demand: Demand): Authorization {
  const { scope, otherScopes = [], party } = demand
  if (scope === invitationScope) {
    return key.invitation === null
      ? { ok: false, code: 'SCOPE_MISSING', message: 'The key is not an invitation.' }
      : { ok: true }
  }
  // The scope admin includes every other scope.
  const isEnough = (held: Scope): boolean =>
    held === scope || held === 'admin' || otherScopes.includes(held)
  const code = 'SCOPE_MISSING'
  if (key.invitation !== null) {
    return { ok: false, code, message: 'An invitation can only be accepted.' }
  }
  if (key.scopes.length === 0) {
    return { ok: false, code, message: 'The key does not have any scope.' }
  }
  if (!key.scopes.some(isEnough)) {
    return { ok: false, code, message: `The key does not have the scope ${scope}.` }
  }
  if (party === null || isForParty(key, party)) return { ok: true }
  return { ok: false, code: 'PARTY_FORBIDDEN', message: `The key is not for this ${party.kind}.` }
}

export function isForAdvertiser(key: AccessKey, advertiserId: number): boolean {
  return isForParty(key, { kind: 'advertiser', id: advertiserId })
}

function isForParty(key: AccessKey, { kind, id }: Party): boolean {
  const ids: PartyIds = kind === 'advertiser' ? key.advertisers : key.publishers
  return ids === 'all' || (id !== 'none-such' && ids.includes(id))
}

/** The values of every line of the header, by its name in small letters. */
export function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name
  )
}

function malformed(
  message: string,
  reason: 'no-key' | 'malformed-key' = 'malformed-key'
): Authentication {
  const code = reason === 'no-key' ? 'KEY_MISSING' : 'KEY_MALFORMED'
  return { ok: false, code, message, reason, keyId: null }
}
