// Builders for the fields that the schemas are made of, so that a bound is written once and means the same
// everywhere. None sets `additionalProperties: false`; `closed.ts` does, where fields must not be misspelt.
import { Type, type TProperties, type TSchema, type TSchemaOptions } from 'typebox'

export const int32Bounds = { minimum: -2_147_483_648, maximum: 2_147_483_647 } as const

/** Makes a derived type read-only all the way down: what was parsed is never changed. */
export type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T

/** The read-only type of what a schema describes. */
export type Of<Schema extends TSchema> = Immutable<Type.Static<Schema>>

/** A description, or all options of a schema. */
type Words = string | TSchemaOptions

function optionsOf(words: Words): TSchemaOptions {
  return typeof words === 'string' ? { description: words } : words
}

interface Int32Options extends TSchemaOptions {
  readonly minimum?: number
  readonly maximum?: number
}

/** `integer int32` of the interface. The bounds are spelled out because `format` alone checks nothing. */
export function int32(options: string | Int32Options = {}) {
  return Type.Integer({ ...int32Bounds, format: 'int32', ...optionsOf(options) })
}

/** An id that the catalog hands out; operations of the interface itself take any int32. */
export function catalogId(words: Words = {}) {
  return int32({ minimum: 1, ...optionsOf(words) })
}

/** `number double` of the interface; the validator refuses Infinity, which JSON's 1e999 becomes. */
export function double(words: Words = {}) {
  return Type.Number({ format: 'double', ...optionsOf(words) })
}

export function text(words: Words = {}) {
  return Type.String(optionsOf(words))
}

export function flag(words: Words = {}) {
  return Type.Boolean(optionsOf(words))
}

/** Names and titles of the catalog: 1 to 500 code points. */
export function nameText(words: Words = {}) {
  return Type.String({ minLength: 1, maxLength: 500, ...optionsOf(words) })
}

/**
 * Excludes the characters that nobody sees, some of which `\S` takes for text: controls, format characters, fillers,
 * variation selectors. They are spelled out because many tools that read the schema do not know Unicode classes.
 */
export const visibleCharacter =
  '[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb]'

/** With those that turn the direction of writing, but not its marks, which names in Hebrew may need. */
const controls = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069'

/** A name in the records of what was done: one of blanks says nothing, and controls or overrides disguise what it says. */
export function plainNameText(description: string) {
  return nameText({
    // The empty text breaks another rule, and is told by that one alone.
    pattern: `^(?:$|(?=.*${visibleCharacter})[^${controls}]+$)`,
    title:
      'text with a visible character and without controls, also those of the direction of writing',
    description,
  })
}

export function dateText(words: Words = {}) {
  return Type.String({ format: 'date', ...optionsOf(words) })
}

export function instantText(words: Words = {}) {
  return Type.String({ format: 'date-time', ...optionsOf(words) })
}

export function uuidText(words: Words = {}) {
  return Type.String({ format: 'uuid', ...optionsOf(words) })
}

export function list<Element extends TSchema>(element: Element, words: Words = {}) {
  return Type.Array(element, optionsOf(words))
}

/** An object that is a component of the OpenAPI document under its title. */
export function named<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title })
}

export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(schema)
}

/**
 * A closed list of words. `Type.Enum` leaves `type: string` out and `Type.Union` makes an `anyOf`,
 * both of which generated clients render worse than a plain string enum.
 */
export function wordOf<const T extends readonly string[]>(words: T, options: Words = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...optionsOf(options) })
}

/** A number of things. */
export function count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

/** Nine and six digits: a token carries millionths in 64 bits, and a price above that is a slip. */
export function decimalText(words: { readonly description?: string }) {
  return Type.String({
    pattern: '^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,6})?$',
    title: 'a decimal such as "0.25", with at most 6 digits after the point',
    ...words,
  })
}

export function nullOr<T extends TSchema>(schema: T, words: Words = {}) {
  return Type.Union([schema, Type.Null()], optionsOf(words))
}

/** The days of a question, both included; `rangeFaults` holds its rules. */
export function dateRange({ zone, daysMax }: { readonly zone: string; readonly daysMax: number }) {
  return {
    startDate: dateText({ description: `First day, in ${zone}.` }),
    endDate: dateText({ description: `Last day, included; at most ${daysMax} days in all.` }),
  }
}

/** The page size of every list that is read page by page. */
export const pageLimits = { default: 100, max: 1_000 } as const

export const limitParameter = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: pageLimits.max,
    default: pageLimits.default,
    description: 'Entries at most.',
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
