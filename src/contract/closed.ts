import type { TSchema } from 'typebox'

/**
 * The schema with all its objects closed: an unknown field is refused, so that a misspelt one is not taken
 * for one that was left out. Used for requests whose sender corrects them and asks again. Never used for
 * deliveries of shops, which must not be lost for an extra field, nor for answers, to which later versions
 * add fields.
 */
export function closed<T extends TSchema>(
  schema: T,
  /** Added to the names of inner objects that answers also have, where they are open. */
  { suffix = '' }: { readonly suffix?: string } = {}
): T {
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]: [string, unknown]) => [
      key,
      closedPart(value, suffix),
    ])
  )
  // Only bounds were added: what satisfies the copy is of the type of the original.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (isOpenObject(copy) ? { ...copy, additionalProperties: false } : copy) as unknown as T
}

function closedPart(value: unknown, suffix: string): unknown {
  if (Array.isArray(value)) return value.map((part: unknown) => closedPart(part, suffix))
  if (typeof value !== 'object' || value === null) return value
  const part = closed(value, { suffix })
  const isNamed = 'type' in part && part.type === 'object' && 'title' in part
  return isNamed ? { ...part, title: `${String(part.title)}${suffix}` } : part
}

function isOpenObject(schema: Readonly<Record<string, unknown>>): boolean {
  return (
    schema['type'] === 'object' && 'properties' in schema && !('additionalProperties' in schema)
  )
}

/**
 * The fields of a value that the schema names, at every depth: other fields, stored by an older version, are
 * never shown.
 */
export function knownFields<Value>(schema: TSchema, value: Value): Value {
  // Leaving out what the type does not name changes nothing of the type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return knownPart(schema, value) as Value
}

function knownPart(schema: unknown, value: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return value
  if (Array.isArray(value)) {
    const items: unknown = Reflect.get(schema, 'items')
    return value.map((item: unknown) => knownPart(items, item))
  }
  const properties: unknown = Reflect.get(schema, 'properties')
  if (typeof value !== 'object' || value === null) return value
  if (typeof properties !== 'object' || properties === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => Object.hasOwn(properties, name))
      .map(([name, part]: [string, unknown]) => [
        name,
        knownPart(Reflect.get(properties, name), part),
      ])
  )
}
