// Reads answers without trusting their shape: what is missing is named, not undefined three calls later.

export type JsonObject = Readonly<Record<string, unknown>>

export function parseObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text)
  return asObject(value, 'the answer')
}

export function textIn(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw new TypeError(`${name} is not a text in the answer`)
  return value
}

export function countIn(object: JsonObject, name: string): number {
  const value = object[name]
  if (typeof value !== 'number') throw new TypeError(`${name} is not a number in the answer`)
  return value
}

export function objectIn(object: JsonObject, name: string): JsonObject {
  return asObject(object[name], name)
}

export function objectsIn(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name]
  if (!Array.isArray(value)) throw new TypeError(`${name} is not a list in the answer`)
  return value.map((element: unknown, index) => asObject(element, `${name}/${index}`))
}

function asObject(value: unknown, name: string): JsonObject {
  if (!isObject(value)) throw new TypeError(`${name} is not an object`)
  return value
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
