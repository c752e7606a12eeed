// A misspelt field must not be taken for one that was left out. Every body of every operation is held to this,
// at every depth; what is exempt stands here with its reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEventLine } from '../../src/contract/event-lines.ts'
import { examples } from '../../src/contract/examples/examples.ts'
import type { JsonBody, Operation } from '../../src/contract/operation.ts'
import { operations } from '../../src/contract/operations.ts'

/** Deliveries of shops: a purchase must not be lost for a field that a later version of the shop adds. */
const takesMore = new Set(['deliverConversion', 'deliverReturn'])

/** Objects whose shape the interface leaves open. */
const openPlaces = new Set(
  [
    'downloadSpaProductReport',
    'readSpaProductReport',
    'readSpaProductSeries',
    'readSpaProductGroups',
    'downloadSpaProductGroups',
  ].map((operationId) => `${operationId} /filters/*/values/*`)
)

const misspelt = 'nmae'

const withBody = operations.flatMap((operation) =>
  operation.body === null || operation.body.isStream ? [] : [{ operation, body: operation.body }]
)

for (const { operation, body } of withBody.filter(
  (one) => !takesMore.has(one.operation.operationId)
)) {
  const { operationId } = operation

  test(`${operationId}: an unknown field is refused by name, in every object of the body`, () => {
    const example = examples[operationId]?.body
    const places = objectsIn(example)
    assert.ok(places.length > 0)
    for (const place of places) {
      assert.deepEqual(faultsOf(body, withField(example, place)), [
        `${place.map((key) => `/${key}`).join('')}/${misspelt}`,
      ])
    }
  })

  test(`${operationId}: no object of its schema takes fields that it does not name`, () => {
    assert.deepEqual(openObjects(operation, body), [])
  })
}

test('purchases and returns take fields that they do not know, and nothing else does', () => {
  const tolerant = withBody
    .filter(({ operation, body }) => {
      const example = examples[operation.operationId]?.body
      return body.parse(withField(example, [])).ok
    })
    .map(({ operation }) => operation.operationId)

  assert.deepEqual(new Set(tolerant), takesMore)
})

test('a line of a backfill refuses unknown fields, except inside the purchase or the return', () => {
  const receivedAt = '2026-03-04T11:00:00Z'
  const carried = [
    ['conversion', examples['deliverConversion']?.body],
    ['return', examples['deliverReturn']?.body],
  ] as const
  for (const [type, delivery] of carried) {
    const line = { type, receivedAt, [type]: withField(delivery, []) }
    assert.equal(parseEventLine(line).ok, true)
    assert.match(JSON.stringify(parseEventLine({ ...line, [misspelt]: 1 })), /\/nmae is not known/)
  }
  const click = { type: 'click', receivedAt, trackingData: 'A', [misspelt]: 1 }
  assert.match(JSON.stringify(parseEventLine(click)), /\/nmae is not known here/)
})

type Place = readonly (string | number)[]

function objectsIn(value: unknown, place: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, part]) => objectsIn(part, [...place, key]))
  return Array.isArray(value) ? inner : [place, ...inner]
}

/** A copy with a field too many in the object at the place. */
function withField(value: unknown, place: Place): unknown {
  const copy: unknown = structuredClone(value)
  const at = place.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), copy)
  Reflect.set(Object(at), misspelt, 1)
  return copy
}

/** The places that the messages name; the rest of each message is for people. */
function faultsOf(body: JsonBody, value: unknown): readonly string[] {
  const parsed = body.parse(value)
  if (parsed.ok) return []
  return parsed.messages.map((message) => message.replace(/ is not known here.*$/u, ''))
}

function openObjects({ operationId }: Operation, { schema }: JsonBody): readonly string[] {
  const found: string[] = []
  const walk = (node: unknown, place: string): void => {
    if (typeof node !== 'object' || node === null) return
    const type: unknown = Reflect.get(node, 'type')
    const isClosed = Reflect.get(node, 'additionalProperties') === false
    if (type === 'object' && !isClosed && !openPlaces.has(`${operationId} ${place}`)) {
      found.push(place)
    }
    for (const [name, part] of Object.entries(Reflect.get(node, 'properties') ?? {})) {
      walk(part, `${place}/${name}`)
    }
    walk(Reflect.get(node, 'items'), `${place}/*`)
    for (const part of Reflect.get(node, 'anyOf') ?? []) walk(part, place)
  }
  walk(schema, '')
  return found
}
