import type { TSchema } from 'typebox'

/**
 * The schema with every object of it closed: a field that it does not name is refused, so that a
 * misspelt one is not taken for one that was left out. For what is asked of the service, where the
 * sender mends it and asks again; never for deliveries of shops, of which none may be lost for a field
 * too many, nor for answers, to which later versions add.
 */
export function closed<T extends TSchema>(
  schema: T,
  /** Added to the names of the objects inside that answers have too, where they are open. */
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
 * What the schema names of a value that satisfies it, all the way down: what an older version stored
 * beside it is shown to nobody.
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
