// Whom a proxy has signed in, by the header that it sets. A header is only somebody's word: it counts from the
// addresses of the proxy alone, and from pages of ours alone, since a browser is signed in whoever makes it ask.
import { ownPageHeader, personForm } from '../domain/person.ts'
import type { RefusalCode } from '../contract/refusal-codes.ts'
import { authenticate, headerLines, type Authentication } from './authenticate.ts'
import type { KeyStore } from './key-store.ts'

export interface SignOn {
  /** In small letters. */
  readonly header: string
  /** Whether the connection comes from the proxy: by its own address, never by what was forwarded. */
  readonly isProxy: (address: string) => boolean
}

export interface Caller {
  /** Name, value, name, value: parsed headers hide that a header was there twice. */
  readonly rawHeaders: readonly string[]
  /** Of the connection. Null once it is gone. */
  readonly directAddress: string | null
}

type Keys = Pick<KeyStore, 'find' | 'findRefused' | 'findPerson' | 'isValid'>

/** A key that is presented goes before the sign-on. Throws ACCESS_STALE when keys cannot be checked. */
export function identify(
  caller: Caller,
  { keys, signOn }: { readonly keys: Keys; readonly signOn: SignOn | null }
): Authentication {
  const { rawHeaders } = caller
  const named = signOn === null ? [] : headerLines(rawHeaders, signOn.header)
  if (signOn === null || named.length === 0 || headerLines(rawHeaders, 'authorization').length > 0)
    return authenticate(rawHeaders, keys)

  const { directAddress } = caller
  if (directAddress === null || !signOn.isProxy(directAddress)) {
    return refused('SIGN_ON_REFUSED', 'foreign-sign-on', {
      message: 'The header of the sign-on is taken from the address of its proxy only.',
    })
  }
  const person = named.length === 1 ? personOf(named[0] ?? '', signOn.header) : null
  if (person === null) {
    return refused('SIGN_ON_REFUSED', 'malformed-sign-on', {
      message: 'The header of the sign-on must be there once and hold one e-mail address.',
    })
  }
  if (!isFromOwnPage(rawHeaders)) {
    return refused('CROSS_SITE_REFUSED', 'cross-site', {
      message: `A call without a key needs the header ${ownPageHeader}, which other sites cannot send.`,
    })
  }
  if (isPageOfAnother(rawHeaders, person)) {
    return refused('PERSON_CHANGED', 'changed-person', {
      message: 'Somebody else is signed in than the page says.',
    })
  }
  return findPerson(person, keys)
}

function findPerson(person: string, keys: Keys): Authentication {
  const key = keys.findPerson(person)
  if (key !== null && keys.isValid(key)) return { ok: true, key }
  // The same for expired and revoked access. The address is the proxy's word, not the caller's.
  const message = `You are signed in as ${person}, who has no access: ask your operator to give ${person} access.`
  return refused('PERSON_UNKNOWN', 'unknown-person', { message, keyId: key?.id ?? null })
}

/** Google writes who vouches for the address before it; elsewhere that would be part of somebody's name. */
const googleHeader = 'x-goog-authenticated-user-email'
const googlePrefix = 'accounts.google.com:'

/** The address in small letters, or null. */
function personOf(value: string, header: string): string | null {
  const isOfGoogle = header === googleHeader && value.startsWith(googlePrefix)
  const person = isOfGoogle ? value.slice(googlePrefix.length) : value
  return personForm.test(person) ? person.toLowerCase() : null
}

function isFromOwnPage(rawHeaders: readonly string[]): boolean {
  const sites = headerLines(rawHeaders, 'sec-fetch-site')
  // Browsers leave it out where the address is plain http, and programs everywhere.
  const isSameOrigin = sites.every((site) => site.trim() === 'same-origin')
  return isSameOrigin && headerLines(rawHeaders, ownPageHeader).length > 0
}

/**
 * A browser has one session of the proxy for all its tabs. A page in which somebody else was signed in must neither act
 * nor show figures under the new name.
 */
function isPageOfAnother(rawHeaders: readonly string[], person: string): boolean {
  return headerLines(rawHeaders, ownPageHeader).some(
    (value) => personForm.test(value) && value.toLowerCase() !== person
  )
}

type SignOnReason = (Authentication & { readonly ok: false })['reason']

function refused(
  code: RefusalCode,
  reason: SignOnReason,
  { message, keyId = null }: { readonly message: string; readonly keyId?: string | null }
): Authentication {
  return { ok: false, code, message, reason, keyId }
}
