// The filters of reports: their schema, and the rules of their values. What comes out has its values as text.
import { Type, type TSchema } from 'typebox'
import { isText } from '../domain/text.ts'
import { int32Bounds, named, optional, wordOf } from './fields.ts'

/** The fields of the report of the interface. */
export const productFilterFields = ['GTIN', 'PRODUCT_TITLE', 'BRAND', 'MARKET'] as const

const idFields = ['CAMPAIGN_ID', 'AD_GROUP_ID', 'PUBLISHER_ID'] as const

/** The fields of sums and groups, which are additions to the interface. */
export const filterFields = [...productFilterFields, ...idFields] as const

export type FilterField = (typeof filterFields)[number]
export type ProductFilterField = (typeof productFilterFields)[number]

export interface ReportFilter<Field extends FilterField = FilterField> {
  readonly field: Field
  /** Text as sent, numbers in their shortest decimal form. Empty matches nothing. */
  readonly values: readonly string[]
}

export const filterLimits = {
  filtersMax: 100,
  // Over all filters together; each is a bound parameter of one query.
  valuesMax: 10_000,
} as const

const scalarSchemas = [Type.String(), Type.Number()] as const

/** The interface says "object" and leaves its shape open; what else an object holds is ignored. */
export const filterValueSchema = Type.Union(
  [
    ...scalarSchemas,
    Type.Object({ value: Type.Union([...scalarSchemas]) }, { additionalProperties: true }),
  ],
  { description: 'The text or the number itself, or an object whose `value` is one.' }
)

export interface FilterKind<Field extends FilterField, Value extends TSchema> {
  readonly title: string
  readonly fields: readonly Field[]
  readonly value: Value
}

// The interface marks neither as required, but a filter without them has no meaning to guess at.
function filterSchema<Field extends FilterField, Value extends TSchema>(
  kind: FilterKind<Field, Value>
) {
  return named(kind.title, {
    field: wordOf(kind.fields),
    values: Type.Array(kind.value, {
      maxItems: filterLimits.valuesMax,
      description: `Any of them matches. The filters have at most ${filterLimits.valuesMax} together.`,
    }),
  })
}

export function filtersSchema<Field extends FilterField, Value extends TSchema>(
  kind: FilterKind<Field, Value>
) {
  return optional(
    Type.Array(filterSchema(kind), {
      maxItems: filterLimits.filtersMax,
      description: 'All of them must match.',
    })
  )
}

interface ParsedFilters<Field extends FilterField> {
  readonly filters: readonly ReportFilter<Field>[]
  readonly messages: readonly string[]
}

interface FilterBody<Field extends FilterField> {
  readonly field: Field
  readonly values: readonly unknown[]
}

/** Checks the values, with messages that tell their faults apart. */
export function parseFilters<Field extends FilterField>(
  bodies: readonly FilterBody<Field>[]
): ParsedFilters<Field> {
  const valueCount = bodies.reduce((count, { values }) => count + values.length, 0)
  if (valueCount > filterLimits.valuesMax) {
    const message = `/filters must have at most ${filterLimits.valuesMax} values together`
    return { filters: [], messages: [message] }
  }
  const messages: string[] = []
  const filters = bodies.map(({ field, values }, index) => {
    const path = `/filters/${index}/values`
    return { field, values: parseValues(values, { path, messages, isId: isIdField(field) }) }
  })
  return { filters, messages }
}

interface Faults {
  readonly path: string
  readonly isId: boolean
  readonly messages: string[]
}

function parseValues(values: readonly unknown[], faults: Faults): readonly string[] {
  const texts: string[] = []
  for (const [index, element] of values.entries()) {
    const text = textOf(element)
    const fault = faultOf(text, faults.isId)
    if (text !== null && fault === null) texts.push(text)
    else faults.messages.push(`${faults.path}/${index} ${fault}`)
  }
  return texts
}

function faultOf(text: string | null, isId: boolean): string | null {
  if (text === null) return 'must be a string, a finite number, or an object whose value is one'
  // One tool means everything by it, another nothing, a third what has no value.
  if (text.trim() === '') {
    return 'must not be empty or blank; leave the filter out to filter nothing'
  }
  if (!isText(text)) return 'must be text without lone surrogates or U+0000'
  return isId && !isInt32(text) ? 'must be an id: a whole number of 32 bits' : null
}

function isInt32(text: string): boolean {
  const id = Number(text)
  return (
    /^(?:0|-?[1-9]\d{0,9})$/u.test(text) && id >= int32Bounds.minimum && id <= int32Bounds.maximum
  )
}

export function isIdField(field: FilterField): field is (typeof idFields)[number] {
  return idFields.some((known) => known === field)
}

function textOf(element: unknown): string | null {
  const scalar = isWithValue(element) ? element.value : element
  if (typeof scalar === 'string') return scalar
  // String() of a double is its shortest decimal text; -0 becomes 0.
  return typeof scalar === 'number' && Number.isFinite(scalar) ? String(scalar) : null
}

/** Own properties only: `{}` must not find a value on a prototype. */
function isWithValue(element: unknown): element is { readonly value: unknown } {
  return typeof element === 'object' && element !== null && Object.hasOwn(element, 'value')
}
