// A key of the campaign port, and how it is stored in the table of entries. A revocation is an entry of
// its own, so that no version of the key, whichever node wrote it, brings a revoked key back.
import { Type } from 'typebox'
import type { Entry, EntryKind, StoredEntry } from '../catalog/entry-store.ts'
import { scopes, type Scope } from '../contract/admin.ts'
import { catalogId, instantText, type Immutable } from '../contract/fields.ts'
import { parseInstant, printInstant } from '../domain/instant.ts'
import { compileParser } from '../contract/validate.ts'
import { assert } from '../lib/assert.ts'

/** The advertisers or the publishers that a key may act for. */
export type PartyIds = readonly number[] | 'all'

/** What the key will be that an invitation becomes. */
export interface Invitation {
  readonly scopes: readonly Scope[]
  readonly expiresAtMs: number | null
}

/** A key as the service knows it; the secret itself is known only to its holder. */
export interface AccessKey {
  readonly id: string
  readonly name: string
  readonly advertisers: PartyIds
  readonly publishers: PartyIds
  readonly scopes: readonly Scope[]
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
  /** From when on others may have known it: no delivery counts by it that was received since then. */
  readonly compromisedSinceMs: number | null
  /** The key that whoever holds this one may take in its place, once; null for any ordinary key. */
  readonly invitation: Invitation | null
  /** The access of a person whom the sign-on of a proxy names: `name` is the e-mail address. Nobody has its secret. */
  readonly isSignOn: boolean
  /** The key of the configuration: every scope, advertiser and publisher, and no limit on the rate. */
  readonly isConfigured: boolean
}

export const storedKeyKinds = ['key', 'key-revoked'] as const satisfies readonly EntryKind[]

export interface StoredKey {
  readonly key: AccessKey
  /** SHA-256 of the key as it is presented: 256 random bits need no slow hash. */
  readonly hash: Buffer
}

const partyIds = Type.Union([Type.Literal('all'), Type.Array(catalogId())])

const storedKeySchema = Type.Object({
  id: Type.String({ minLength: 1 }),
  name: Type.String(),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  advertisers: partyIds,
  // Keys of versions that knew no publishers are for none.
  publishers: Type.Optional(partyIds),
  // A newer version may know more: what this one does not know, a key cannot use here.
  scopes: Type.Array(Type.String()),
  createdAt: instantText(),
  expiresAt: Type.Optional(instantText()),
  // Versions that know no sign-on read a key of which nobody has the secret.
  signOn: Type.Optional(Type.Literal(true)),
  // Versions that know no invitations read a key without any scope, which opens nothing.
  invitation: Type.Optional(
    Type.Object({ scopes: Type.Array(Type.String()), expiresAt: Type.Optional(instantText()) })
  ),
})

const parseStoredKey = compileParser(storedKeySchema)
const parseRevocation = compileParser(
  Type.Object({ revokedAt: instantText(), compromisedSince: Type.Optional(instantText()) })
)

export type Revocation = Pick<AccessKey, 'compromisedSinceMs'> & { readonly revokedAtMs: number }

type StoredBody = Immutable<Type.Static<typeof storedKeySchema>>

export function keyEntry({ key, hash }: StoredKey): Entry {
  const body: StoredBody = {
    id: key.id,
    name: key.name,
    hash: hash.toString('hex'),
    advertisers: key.advertisers,
    publishers: key.publishers,
    scopes: key.scopes,
    createdAt: printInstant(key.createdAtMs),
    ...(key.expiresAtMs !== null && { expiresAt: printInstant(key.expiresAtMs) }),
    ...(key.isSignOn && { signOn: true as const }),
    ...(key.invitation !== null && { invitation: storedInvitation(key.invitation) }),
  }
  return { kind: 'key', id: key.id, body }
}

function storedInvitation({ scopes: granted, expiresAtMs }: Invitation) {
  const end = expiresAtMs === null ? {} : { expiresAt: printInstant(expiresAtMs) }
  return { scopes: granted, ...end }
}

export function revocationEntry(
  id: string,
  { revokedAtMs, compromisedSinceMs }: Revocation
): Entry {
  const body = {
    revokedAt: printInstant(revokedAtMs),
    ...(compromisedSinceMs !== null && { compromisedSince: printInstant(compromisedSinceMs) }),
  }
  return { kind: 'key-revoked', id, body }
}

export function readStoredKeys(entries: readonly StoredEntry[]): readonly StoredKey[] {
  const revocations = entries.filter(({ kind }) => kind === 'key-revoked')
  const byId = new Map(revocations.map(({ id, body }) => [id, readRevocation(body)]))
  return entries
    .filter(({ kind }) => kind === 'key')
    .map(({ id, body }) => readKey(body, byId.get(id) ?? notRevoked))
}

const notRevoked = { revokedAtMs: null, compromisedSinceMs: null } as const

function readKey(text: string, revocation: Revocation | typeof notRevoked): StoredKey {
  const parsed = parseStoredKey(JSON.parse(text))
  assert(parsed.ok, 'a stored key is as it was written')
  const { id, name, hash, advertisers, publishers = [], createdAt, expiresAt } = parsed.value
  const { invitation, signOn = false } = parsed.value
  return {
    hash: Buffer.from(hash, 'hex'),
    key: {
      id,
      name,
      advertisers,
      publishers,
      scopes: knownScopes(parsed.value.scopes),
      createdAtMs: instantMs(createdAt),
      expiresAtMs: expiresAt === undefined ? null : instantMs(expiresAt),
      ...revocation,
      invitation:
        invitation === undefined
          ? null
          : {
              scopes: knownScopes(invitation.scopes),
              expiresAtMs:
                invitation.expiresAt === undefined ? null : instantMs(invitation.expiresAt),
            },
      isSignOn: signOn,
      isConfigured: false,
    },
  }
}

function knownScopes(stored: readonly string[]): readonly Scope[] {
  return scopes.filter((scope) => stored.includes(scope))
}

function readRevocation(text: string): Revocation {
  const parsed = parseRevocation(JSON.parse(text))
  assert(parsed.ok, 'a stored revocation is as it was written')
  const { revokedAt, compromisedSince } = parsed.value
  return {
    revokedAtMs: instantMs(revokedAt),
    compromisedSinceMs: compromisedSince === undefined ? null : instantMs(compromisedSince),
  }
}

function instantMs(text: string): number {
  const atMs = parseInstant(text)
  assert(atMs !== null, 'a stored instant is one')
  return atMs
}
