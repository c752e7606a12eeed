/**
 * The keys of an installation: many open, the active one mints. A ring is a value and never
 * changes; adding, activating and removing give a new one. Key bytes sit in KeyObjects, which
 * neither `JSON.stringify` nor a logger can print; `formatKeyRing` is the only way out.
 */
import { findUnknownFields } from '../lib/unknown-fields.ts'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { createRandomPool, type RandomBytes } from './random-pool.ts'
import { type Fault, TrackingDataError } from './tracking-data-error.ts'
import { xaesKeyBytes } from './xaes-256-gcm.ts'

export interface TrackingKey {
  /** Eight lower-case hexadecimal digits. Stands readable in every token. */
  readonly id: string
  readonly key: KeyObject
  /** The only publishers this key is good for, so that a leaked key cannot spend everyone's money. */
  readonly publishers: readonly number[] | 'all'
}

export interface KeyRing {
  /** The id of the key that mints. */
  readonly active: string
  readonly keys: readonly TrackingKey[]
}

export interface NewKeyOptions {
  /** Binds the key to these publishers. */
  readonly publishers?: readonly number[] | undefined
  readonly random?: RandomBytes
}

const newKeyFields = new Set(['publishers', 'random'])
const keysMax = 1_000
const publishersMax = 10_000
const int32Max = 2_147_483_647

const rules = {
  ring: 'must be JSON: an object with only the fields active and keys',
  active: 'must be the id of one of the keys',
  keys: `must be a list of 1 to ${keysMax} keys`,
  entry: 'must be an object with only the fields id, key and publishers',
  id: 'must be 8 lower-case hexadecimal digits',
  idTwice: 'must differ from the ids of the other keys',
  key: `must be ${xaesKeyBytes} bytes in padded base64`,
  keyTwice: 'must differ from the other keys, else one could undo the bounds of the other',
  publishers: `must be a list of 1 to ${publishersMax} integers from 1 to ${int32Max}`,
} as const

/** Takes the JSON text or what was parsed from it. Throws a TrackingDataError with every fault. */
export function parseKeyRing(input: unknown): KeyRing {
  const value = typeof input === 'string' ? parseJson(input) : input
  if (!isRecord(value, ['active', 'keys'])) refuse([{ field: '/', rule: rules.ring }])
  const entries: unknown = value['keys']
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > keysMax) {
    refuse([{ field: '/keys', rule: rules.keys }])
  }
  const faults: Fault[] = []
  const keys = entries.flatMap((entry: unknown, index) => {
    const key = parseKey(entry, { field: `/keys/${index}`, faults })
    return key === undefined ? [] : [key]
  })
  if (faults.length === 0) faults.push(...findClashes(keys))
  const active = keys.find((key) => key.id === value['active'])
  if (active === undefined) faults.push({ field: '/active', rule: rules.active })
  if (active === undefined || faults.length > 0) refuse(faults)
  return { active: active.id, keys }
}

/** The JSON that `parseKeyRing` reads. Holds the secrets: write it only where secrets belong. */
export function formatKeyRing(ring: KeyRing): string {
  const keys = ring.keys.map(({ id, key, publishers }) => ({
    id,
    key: key.export().toString('base64'),
    ...(publishers === 'all' ? {} : { publishers }),
  }))
  return `${JSON.stringify({ active: ring.active, keys }, undefined, 2)}\n`
}

/** A ring of one new random key, which is active. */
export function createKeyRing(options: NewKeyOptions = {}): KeyRing {
  const key = createKey([], options)
  return { active: key.id, keys: [key] }
}

/** Appends a new random key that opens but does not mint yet: the first step of a rotation. */
export function addKey(ring: KeyRing, options: NewKeyOptions = {}): KeyRing {
  if (ring.keys.length >= keysMax) refuse([{ field: '/keys', rule: rules.keys }])
  return { ...ring, keys: [...ring.keys, createKey(ring.keys, options)] }
}

/** Makes another key mint. Every tracker must have it in its ring before. */
export function activateKey(ring: KeyRing, id: string): KeyRing {
  if (!ring.keys.some((key) => key.id === id)) refuse([{ field: '/active', rule: rules.active }])
  return { ...ring, active: id }
}

/** Tokens of the removed key no longer open. The active key cannot be removed. */
export function removeKey(ring: KeyRing, id: string): KeyRing {
  const keys = ring.keys.filter((key) => key.id !== id)
  if (keys.length === ring.keys.length || id === ring.active) {
    refuse([{ field: '/keys', rule: 'must contain the key to remove, and it must not be active' }])
  }
  return { ...ring, keys }
}

/** The key that mints. */
export function activeKey(ring: KeyRing): TrackingKey {
  const key = ring.keys.find(({ id }) => id === ring.active)
  if (key === undefined) refuse([{ field: '/active', rule: rules.active }])
  return key
}

/** A question that is asked per token, so a list of publishers becomes a set once. */
export function createPublisherCheck(key: TrackingKey): (publisherId: number) => boolean {
  if (key.publishers === 'all') return () => true
  const publishers = new Set(key.publishers)
  return (publisherId) => publishers.has(publisherId)
}

function createKey(others: readonly TrackingKey[], options: NewKeyOptions): TrackingKey {
  const unknown = findUnknownFields(options, newKeyFields)
  if (unknown.length > 0) refuse(unknown.map(({ name, rule }) => ({ field: `/${name}`, rule })))
  const { publishers, random = createRandomPool() } = options
  if (publishers !== undefined && !arePublishers(publishers)) {
    refuse([{ field: '/publishers', rule: rules.publishers }])
  }
  const key = createSecretKey(random(xaesKeyBytes))
  let id = toHex(random(4))
  while (others.some((other) => other.id === id)) id = toHex(random(4))
  return { id, key, publishers: publishers === undefined ? 'all' : [...publishers] }
}

function parseKey(
  value: unknown,
  { field, faults }: { readonly field: string; readonly faults: Fault[] }
): TrackingKey | undefined {
  // A misspelt `publishers` would lift the bound in silence, so unknown fields are refused.
  if (!isRecord(value, ['id', 'key', 'publishers'])) {
    faults.push({ field, rule: rules.entry })
    return undefined
  }
  const { id, key, publishers = 'all' } = value
  const bytes = parseKeyBytes(key)
  const isId = typeof id === 'string' && /^[0-9a-f]{8}$/.test(id)
  const isFor = value['publishers'] === undefined || arePublishers(publishers)
  if (!isId) faults.push({ field: `${field}/id`, rule: rules.id })
  if (bytes === undefined) faults.push({ field: `${field}/key`, rule: rules.key })
  if (!isFor) faults.push({ field: `${field}/publishers`, rule: rules.publishers })
  if (!isId || bytes === undefined || !isFor) return undefined
  const bound = arePublishers(publishers) ? [...publishers] : 'all'
  return { id, key: createSecretKey(bytes), publishers: bound }
}

function parseKeyBytes(value: unknown): Buffer | undefined {
  if (typeof value !== 'string') return undefined
  const bytes = Buffer.from(value, 'base64')
  return bytes.length === xaesKeyBytes && bytes.toString('base64') === value ? bytes : undefined
}

function arePublishers(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= publishersMax &&
    value.every((id) => Number.isInteger(id) && id >= 1 && id <= int32Max)
  )
}

function findClashes(keys: readonly TrackingKey[]): Fault[] {
  const faults: Fault[] = []
  const ids = new Set<string>()
  const secrets = new Set<string>()
  for (const [index, { id, key }] of keys.entries()) {
    const secret = key.export().toString('hex')
    if (ids.has(id)) faults.push({ field: `/keys/${index}/id`, rule: rules.idTwice })
    if (secrets.has(secret)) faults.push({ field: `/keys/${index}/key`, rule: rules.keyTwice })
    ids.add(id)
    secrets.add(secret)
  }
  return faults
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, '')) as unknown
  } catch {
    // Node's message quotes the text around the fault, and that may be a secret.
    return undefined
  }
}

function isRecord(
  value: unknown,
  fields: readonly string[]
): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.keys(value).every((name) => fields.includes(name))
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function refuse(faults: readonly Fault[]): never {
  const [first = { field: '/', rule: rules.ring }, ...others] = faults
  throw new TrackingDataError('key ring', [first, ...others])
}
