// Parameters of paths and queries arrive as text. The schema of an operation says what the text must
// spell: here it becomes that value, or a message that names the parameter and its rule.
import type { TObject, TSchema } from 'typebox'
import { daysBetween } from '../domain/day.ts'
import { suggest } from '../lib/suggest.ts'
import { printable, unknownRule } from '../lib/unknown-fields.ts'
import type { Of } from './fields.ts'
import type { Given } from './operation.ts'
import { compile, type Parsed, type Validate } from './validate.ts'
import { parameterRule } from './validation-message.ts'

/** The texts of a parameter by its name, in the order in which they were given. */
type Texts = (name: string) => readonly string[]

/** Parameters that the schema does not describe are ignored here; see `unknownParameterFaults`. */
export function compileParameters<Schema extends TObject>(
  schema: Schema,
  faultsOf: (given: Given<Schema>) => readonly string[] = () => []
): (texts: Texts) => Parsed<Of<Schema>> {
  const required = new Set<string>(schema.required ?? [])
  const parameters = Object.entries(schema.properties).map(
    ([name, one]) => new Parameter(name, one, required.has(name))
  )
  return (texts) => {
    const values: Record<string, unknown> = {}
    const messages: string[] = []
    for (const parameter of parameters) {
      const reading = parameter.read(texts(parameter.name))
      if ('message' in reading) messages.push(reading.message)
      else if (reading.value !== undefined) values[parameter.name] = reading.value
    }
    // Each value was checked against its part of the schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const given = values as Of<Schema>
    messages.push(...faultsOf(given))
    return messages.length > 0 ? { ok: false, messages } : { ok: true, value: given }
  }
}

/**
 * Messages about names that the schema does not describe. A name that resembles no known one may be an id or a secret,
 * so it is not repeated.
 */
export function unknownParameterFaults(
  schema: TObject,
  names: Iterable<string>
): readonly string[] {
  const known = Object.keys(schema.properties)
  const list = known.length === 0 ? 'there is none' : `known are ${known.join(', ')}`
  const messages = [...names]
    .filter((name) => !known.includes(name))
    .map((name) => {
      const isNear = name.length < nameLengthMax && suggest(name, known) !== null
      return isNear
        ? `query parameter ${printable(name)} ${unknownRule(name, known)}`
        : `a query parameter is not known here; ${list}`
    })
  return [...new Set(messages)]
}

const nameLengthMax = 64

/** Undefined: not given. */
type Reading = { readonly value: unknown } | { readonly message: string }

class Parameter {
  readonly name: string
  readonly #schema: TSchema
  readonly #isRequired: boolean
  #validate: Validate | undefined // Compiled when the parameter is given for the first time.

  constructor(name: string, schema: TSchema, isRequired: boolean) {
    this.name = name
    this.#schema = schema
    this.#isRequired = isRequired
  }

  read([text, ...others]: readonly string[]): Reading {
    const { name } = this
    if (text === undefined) {
      return this.#isRequired ? { message: `${name} is required` } : { value: undefined }
    }
    // Proxies disagree about which of two counts.
    if (others.length > 0) return { message: `${name} must be given once` }
    this.#validate ??= compile(this.#schema)
    const value = valueOf(text, this.#schema)
    const isValid = value !== undefined && this.#validate(value).length === 0
    return isValid ? { value } : { message: `${name} must be ${parameterRule(this.#schema, text)}` }
  }
}

/** A number has one spelling, so that caches and rate limits cannot be passed by with `007` or `+7`. */
function valueOf(text: string, schema: TSchema): unknown {
  switch (Reflect.get(schema, 'type')) {
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined
    case 'integer':
      return /^(?:0|-?[1-9][0-9]{0,9})$/.test(text) ? Number(text) : undefined
    default:
      return text
  }
}

interface DayRange {
  readonly startDate?: string
  readonly endDate?: string
}

/** Where the fields of a range are: in the query, in the body, or in a part of it. */
type RangePlace = '' | '/' | '/comparison/'

/** The rules of a range of days, both included. */
export function rangeFaults(
  { startDate, endDate }: DayRange,
  daysMax: number,
  at: RangePlace = ''
): readonly string[] {
  if (startDate === undefined || endDate === undefined) return []
  const dayCount = daysBetween(startDate, endDate) + 1
  if (dayCount < 1) return [`${at}startDate must not be after ${at}endDate`]
  if (dayCount <= daysMax) return []
  return [`${at}endDate must be at most ${daysMax} days from ${at}startDate, both included`]
}

/** No event lies outside of these, and the dates of the warehouse wrap round outside of 1970 to 2149. */
const eventDays = { first: '2020-01-01', last: '2100-12-31' } as const

/** ISO days of four-digit years sort as text. */
export function isEventDay(day: string): boolean {
  return day >= eventDays.first && day <= eventDays.last
}

/** `rangeFaults`, for days that the warehouse must be able to write. */
export function eventRangeFaults(
  range: DayRange,
  daysMax: number,
  at: '' | '/' = ''
): readonly string[] {
  const faults = rangeFaults(range, daysMax, at)
  const isPossible = [range.startDate, range.endDate].every(
    (day) => day === undefined || isEventDay(day)
  )
  if (faults.length > 0 || isPossible) return faults
  return [
    `${at}startDate and ${at}endDate must lie between ${eventDays.first} and ${eventDays.last}`,
  ]
}
