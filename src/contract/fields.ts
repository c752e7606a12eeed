// The kinds of fields the interface is made of, so that a bound is written once and means the same
// everywhere. Nothing here says `additionalProperties: false`: `closed.ts` does, for what must not be misspelt.
import { Type, type TSchema, type TSchemaOptions } from 'typebox'

export const int32Bounds = { minimum: -2_147_483_648, maximum: 2_147_483_647 } as const

/** Makes a derived type read-only all the way down: what was parsed is never changed. */
export type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T

/** The read-only type of what a schema describes. */
export type Of<Schema extends TSchema> = Immutable<Type.Static<Schema>>

interface Int32Options extends TSchemaOptions {
  readonly minimum?: number
  readonly maximum?: number
}

/** `integer int32` of the interface. The bounds are spelled out because `format` alone checks nothing. */
export function int32(options: Int32Options = {}) {
  return Type.Integer({ ...int32Bounds, format: 'int32', ...options })
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

/** A number of things. */
export function count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

export function nullOr<T extends TSchema>(schema: T, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options)
}

/** The days of a question, both included; `rangeFaults` holds its rules. */
export function dateRange({ zone, daysMax }: { readonly zone: string; readonly daysMax: number }) {
  return {
    startDate: dateText({ description: `First day, in ${zone}.` }),
    endDate: dateText({ description: `Last day, included; at most ${daysMax} days in all.` }),
  }
}

/** Of every list that is read page by page. */
export const pageLimits = { default: 100, max: 1_000 } as const

export const limitParameter = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: pageLimits.max,
    description: `Entries at most, ${pageLimits.default} when absent.`,
  })
)

/** The question for a list of which only the newest entries are shown. */
export const limitQuerySchema = Type.Object({ limit: limitParameter })

/** Where the next page begins, as the page before said. */
export function afterParameter(options: TSchemaOptions) {
  const description = 'The `next` of the page before; the first page when absent.'
  const title = 'the next of the page before, unchanged'
  return Type.Optional(Type.String({ title, description, ...options }))
}

/** A page of a list under the name of its entries, with the place behind it. */
export const next = Type.Optional(
  Type.String({ description: 'The `after` of the next page; absent on the last one.' })
)
