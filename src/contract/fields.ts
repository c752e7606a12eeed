// The kinds of fields the interface is made of, so that a bound is written once and means the same
// everywhere. Nothing here says `additionalProperties: false`: `closed.ts` does, for what must not be misspelt.
import { Type, type TSchemaOptions } from 'typebox'

const int32Min = -2_147_483_648
const int32Max = 2_147_483_647

/** Makes a derived type read-only all the way down: what was parsed is never changed. */
export type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T

interface Int32Options extends TSchemaOptions {
  readonly minimum?: number
  readonly maximum?: number
}

/** `integer int32` of the interface. The bounds are spelled out because `format` alone checks nothing. */
export function int32(options: Int32Options = {}) {
  return Type.Integer({ minimum: int32Min, maximum: int32Max, format: 'int32', ...options })
}

/** An id that the catalog hands out; operations of the interface itself take any int32. */
export function catalogId(options: TSchemaOptions = {}) {
  return int32({ minimum: 1, ...options })
}

/** `number double` of the interface; the validator refuses Infinity, which JSON's 1e999 becomes. */
export function double(options: TSchemaOptions = {}) {
  return Type.Number({ format: 'double', ...options })
}

/** Names and titles of the catalog: 1 to 500 code points. */
export function nameText(options: TSchemaOptions = {}) {
  return Type.String({ minLength: 1, maxLength: 500, ...options })
}

export function dateText(options: TSchemaOptions = {}) {
  return Type.String({ format: 'date', ...options })
}

export function instantText(options: TSchemaOptions = {}) {
  return Type.String({ format: 'date-time', ...options })
}

export function uuidText(options: TSchemaOptions = {}) {
  return Type.String({ format: 'uuid', ...options })
}

/**
 * A closed list of words. `Type.Enum` leaves `type: string` out and `Type.Union` makes an `anyOf`,
 * both of which generated clients render worse than a plain string enum.
 */
export function wordOf<const T extends readonly string[]>(words: T, options: TSchemaOptions = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options })
}
