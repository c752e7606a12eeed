import { timingSafeEqual } from 'node:crypto'
import { EntryStore, type EntryStoreOptions } from '../catalog/entry-store.ts'
import { scopes, type KeyRequest, type KeyResponse } from '../contract/admin.ts'
import type { PersonRequest } from '../contract/sign-on.ts'
import { parseInstant } from '../domain/instant.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccessKey } from './key.ts'
import { checkAdminKey, hashToken, newId, newToken } from './token.ts'
import { keyEntry, readStoredKeys, revocationEntry, storedKeyKinds, type StoredKey } from './key.ts'

export interface KeyStoreOptions extends EntryStoreOptions {
  /** The key of the configuration; a blank one is refused, for it would let everyone in. */
  readonly adminKey: string
}

/** A key of ours that is not accepted any more. */
export interface RefusedKey {
  readonly keyId: string
  readonly reason: 'expired-key' | 'revoked-key'
}

export interface KeyStore {
  /**
   * The key that a caller presents, or null when there is no such key or it is expired or revoked.
   * Throws ACCESS_STALE when the list of keys is too old to include recent revocations.
   */
  find(token: string): AccessKey | null
  /**
   * The access of the person, by the e-mail address in small letters, expired and revoked ones too: what was given
   * last counts, so that nothing comes back when it is revoked. Throws ACCESS_STALE as `find` does.
   */
  findPerson(person: string): AccessKey | null
  /** Which expired or revoked key it is that `find` did not accept, for the log; null for any other text. */
  findRefused(token: string): RefusedKey | null
  /**
   * Whether a key that was found is still good by the current list. Open calls of a key end within
   * 5 seconds of its revocation or expiry.
   */
  isValid(key: AccessKey): boolean
  /** Any key by its SHA-256 as hex, expired and revoked ones too. Never that of the configuration. */
  findByHash(hash: string): AccessKey | null
  /** Any key by its id, expired and revoked ones too. */
  findById(id: string): AccessKey | null
  /**
   * Resolves when the list of keys was read after that instant and within the last 30 seconds. Reads it if
   * need be, and rejects if that fails.
   */
  readAfter(atMs: number): Promise<void>
  /** The answer is the only place where the key itself is ever shown. */
  create(request: KeyRequest): Promise<KeyResponse>
  /** Gives a person access by the sign-on of a proxy. Null where the person has access already. */
  admit(request: PersonRequest): Promise<{ readonly id: string } | null>
  /**
   * A key that opens nothing and may be changed for the wanted one, once, within so many hours. The answer is the
   * only place where its secret is ever shown.
   */
  invite(
    request: KeyRequest,
    hours: number
  ): Promise<KeyResponse & { readonly expiresAtMs: number }>
  /**
   * Makes the key of an invitation, under the same id, and ends the invitation. Null when it has been accepted or
   * revoked meanwhile. `record` is called once it is sure to be made; if it throws, the invitation stands.
   */
  accept(invited: AccessKey, record?: () => Promise<void>): Promise<KeyResponse | null>
  /** All keys but that of the configuration, oldest first; revoked and expired ones too. */
  list(): readonly AccessKey[]
  /**
   * Null when there is no such key. Cannot be undone. Repeating it changes nothing but an instant of
   * compromise that is earlier than the one known so far.
   */
  revoke(id: string, compromisedSinceMs?: number | null): Promise<AccessKey | null>
  refresh(): Promise<void>
  close(): Promise<void>
}

export const limits = {
  /** A list older than this may miss a revocation, so no key is accepted by it. */
  listAgeMsMax: 30_000,
  /** A longer text is no key of ours, and not worth hashing. */
  tokenLengthMax: 512,
} as const

const hourMs = 3_600_000

/** A key that is about to be stored. */
type NewKey = Omit<AccessKey, 'createdAtMs' | 'revokedAtMs' | 'compromisedSinceMs' | 'isConfigured'>

/** Loads the keys and keeps them fresh. The warehouse must be migrated, and is not closed here. */
export async function openKeyStore(options: KeyStoreOptions): Promise<KeyStore> {
  const store = new WarehouseKeyStore(options)
  await store.entries.open()
  return store
}

class WarehouseKeyStore implements KeyStore {
  readonly entries: EntryStore
  readonly #clock: Clock
  readonly #adminHash: Buffer
  readonly #adminKey: AccessKey
  #keysByHash: ReadonlyMap<string, StoredKey> = new Map()
  #keysById: ReadonlyMap<string, StoredKey> = new Map()
  #keysByPerson: ReadonlyMap<string, AccessKey> = new Map()

  constructor(options: KeyStoreOptions) {
    const { clock, adminKey } = options
    this.entries = new EntryStore(options, {
      what: 'keys',
      kinds: storedKeyKinds,
      onEntries: (entries) => {
        this.#keysByHash = new Map()
        this.#keysById = new Map()
        this.#keysByPerson = new Map()
        this.#set(readStoredKeys(entries))
      },
    })
    this.#clock = clock
    this.#adminHash = hashToken(checkAdminKey(adminKey))
    this.#adminKey = configuredKey(clock())
  }

  find(token: string): AccessKey | null {
    if (token.length > limits.tokenLengthMax) return null
    const hash = hashToken(token)
    // The key of the configuration cannot be revoked, so no list is needed to know it: operators
    // can still read status and metrics while the warehouse is away.
    if (timingSafeEqual(hash, this.#adminHash)) return this.#adminKey

    this.#assertFresh()
    const key = this.#findStored(hash)
    return key !== null && isUsable(key, this.#clock()) ? key : null
  }

  findPerson(person: string): AccessKey | null {
    this.#assertFresh()
    return this.#keysByPerson.get(person) ?? null
  }

  findRefused(token: string): RefusedKey | null {
    if (token.length > limits.tokenLengthMax) return null
    const key = this.#findStored(hashToken(token))
    if (key === null || isUsable(key, this.#clock())) return null
    return { keyId: key.id, reason: key.revokedAtMs === null ? 'expired-key' : 'revoked-key' }
  }

  isValid(key: AccessKey): boolean {
    if (key.isConfigured) return true
    const current = this.#keysById.get(key.id)
    return current !== undefined && isUsable(current.key, this.#clock())
  }

  findByHash(hash: string): AccessKey | null {
    return this.#keysByHash.get(hash)?.key ?? null
  }

  findById(id: string): AccessKey | null {
    return this.#keysById.get(id)?.key ?? null
  }

  async readAfter(atMs: number): Promise<void> {
    if (this.entries.readAtMs > atMs && this.#ageMs() <= limits.listAgeMsMax) return
    await this.entries.refresh()
  }

  async create(request: KeyRequest): Promise<KeyResponse> {
    const wish = this.#wishOf(request)
    return await this.#store({ id: newId(), ...wish, isSignOn: false, invitation: null })
  }

  async admit({ person, ...rights }: PersonRequest): Promise<{ readonly id: string } | null> {
    const name = person.toLowerCase()
    const wish = this.#wishOf({ ...rights, name })
    const id = newId()
    return await this.entries.change(async () => {
      const current = this.#keysByPerson.get(name)
      if (current !== undefined && isUsable(current, this.#clock())) return null
      // Nobody ever learns the secret: it is made because every entry has one.
      await this.#append(newToken(), { id, ...wish, isSignOn: true, invitation: null })
      return { id }
    })
  }

  async invite(request: KeyRequest, hours: number) {
    const { scopes: granted, expiresAtMs: keyEndsAtMs, ...wish } = this.#wishOf(request)
    const expiresAtMs = Math.min(keyEndsAtMs ?? Infinity, this.#clock() + hours * hourMs)
    const invitation = { scopes: granted, expiresAtMs: keyEndsAtMs }
    const made = await this.#store({
      id: newId(),
      ...wish,
      scopes: [],
      expiresAtMs,
      isSignOn: false,
      invitation,
    })
    return { ...made, expiresAtMs }
  }

  async accept(
    { id, name, advertisers, publishers }: AccessKey,
    record?: () => Promise<void>
  ): Promise<KeyResponse | null> {
    const token = newToken()
    return await this.entries.change(async () => {
      const current = this.#keysById.get(id)?.key
      if (current === undefined || current.invitation === null) return null
      if (!isUsable(current, this.#clock())) return null
      await record?.()
      const key = { id, name, advertisers, publishers, ...current.invitation }
      await this.#append(token, { ...key, isSignOn: false, invitation: null })
      return { id, key: token }
    })
  }

  async #store(key: NewKey): Promise<KeyResponse> {
    const token = newToken()
    await this.entries.change(async () => await this.#append(token, key))
    return { id: key.id, key: token }
  }

  async #append(token: string, key: NewKey): Promise<void> {
    const createdAtMs = this.#clock()
    const unrevoked = { revokedAtMs: null, compromisedSinceMs: null, isConfigured: false }
    const stored = { hash: hashToken(token), key: { ...key, ...unrevoked, createdAtMs } }
    await this.entries.append([keyEntry(stored)])
    this.#set([stored])
  }

  #wishOf(request: KeyRequest): Omit<NewKey, 'id' | 'isSignOn' | 'invitation'> {
    return {
      name: request.name,
      advertisers: request.advertisers ?? [],
      publishers: request.publishers ?? [],
      scopes: scopes.filter((scope) => request.scopes.includes(scope)),
      expiresAtMs: request.expiresAt === undefined ? null : parseInstant(request.expiresAt),
    }
  }

  list(): readonly AccessKey[] {
    return [...this.#keysByHash.values()]
      .map(({ key }) => key)
      .toSorted((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1))
  }

  async revoke(id: string, compromisedSinceMs: number | null = null): Promise<AccessKey | null> {
    return await this.entries.change(async () => {
      const stored = this.#keysById.get(id)
      if (stored === undefined) return null
      const revokedAtMs = stored.key.revokedAtMs ?? this.#clock()
      // Nothing counts after the revocation anyway.
      const isBefore = compromisedSinceMs !== null && compromisedSinceMs < revokedAtMs
      const revocation = {
        revokedAtMs,
        compromisedSinceMs: earlier(
          stored.key.compromisedSinceMs,
          isBefore ? compromisedSinceMs : null
        ),
      }
      const key = { ...stored.key, ...revocation }
      const isKnown =
        stored.key.revokedAtMs !== null &&
        stored.key.compromisedSinceMs === revocation.compromisedSinceMs
      if (isKnown) return key
      await this.entries.append([revocationEntry(id, revocation)])
      this.#set([{ ...stored, key }])
      return key
    })
  }

  async refresh(): Promise<void> {
    await this.entries.refresh()
  }

  async close(): Promise<void> {
    await this.entries.close()
  }

  /** Whatever its state. */
  #findStored(hash: Buffer): AccessKey | null {
    const stored = this.#keysByHash.get(hash.toString('hex'))
    // The map finds by hash, whose bytes tell nothing about the key; equal bytes are then proven in
    // constant time.
    return stored !== undefined && timingSafeEqual(stored.hash, hash) ? stored.key : null
  }

  #assertFresh(): void {
    const ageMs = this.#ageMs()
    if (ageMs <= limits.listAgeMsMax) return
    throw new ServiceError('ACCESS_STALE', 'the list of keys is too old', {
      details: { ageMs },
    })
  }

  #ageMs(): number {
    // A list from the future says that the clock was set back, and nothing about its age.
    return Math.abs(this.#clock() - this.entries.readAtMs)
  }

  #set(changed: readonly StoredKey[]): void {
    const byHash = new Map(this.#keysByHash)
    const byId = new Map(this.#keysById)
    const byPerson = new Map(this.#keysByPerson)
    for (const stored of changed) {
      // What an invitation becomes has another secret under the same id.
      const former = byId.get(stored.key.id)
      if (former !== undefined) byHash.delete(former.hash.toString('hex'))
      byHash.set(stored.hash.toString('hex'), stored)
      byId.set(stored.key.id, stored)
      if (stored.key.isSignOn) setNewest(byPerson, stored.key)
    }
    this.#keysByHash = byHash
    this.#keysById = byId
    this.#keysByPerson = byPerson
  }
}

/** Of two, which two nodes may have made at the same instant, every node takes the same one. */
function setNewest(byPerson: Map<string, AccessKey>, key: AccessKey): void {
  const known = byPerson.get(key.name)
  const isNewer =
    known === undefined ||
    known.createdAtMs < key.createdAtMs ||
    (known.createdAtMs === key.createdAtMs && known.id <= key.id)
  if (isNewer) byPerson.set(key.name, key)
}

function configuredKey(createdAtMs: number): AccessKey {
  return {
    id: 'configured-admin',
    name: "the operator's admin key",
    advertisers: 'all',
    publishers: 'all',
    scopes,
    createdAtMs,
    expiresAtMs: null,
    revokedAtMs: null,
    compromisedSinceMs: null,
    invitation: null,
    isSignOn: false,
    isConfigured: true,
  }
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

function isUsable(key: AccessKey, nowMs: number): boolean {
  return key.revokedAtMs === null && (key.expiresAtMs === null || nowMs < key.expiresAtMs)
}
