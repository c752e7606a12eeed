import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { buildOpenApi } from '../../src/contract/openapi.ts'
import { operations } from '../../src/contract/operations.ts'
import { expectedOperations, expectedSchemas } from './interface-table.ts'

type Json = Readonly<Record<string, unknown>>

const servers: Readonly<Record<string, string>> = {
  tracking: 'https://track.example',
  campaign: 'https://ads.example',
}
const document: Json = asJson(
  JSON.parse(
    JSON.stringify(
      buildOpenApi({
        trackingUrl: servers['tracking'] ?? '',
        campaignUrl: servers['campaign'] ?? '',
        version: '1.2.3',
      })
    )
  )
)
const schemas = at(document, 'components', 'schemas')

// What an advertiser sends and can mend; a delivery of a shop is taken with fields too many.
const closedSchemas = new Set([
  'SpaProductReportRequest',
  'SpaProductReportFilter',
  'CreativeRequest',
])

for (const [name, expected] of Object.entries(expectedSchemas)) {
  test(`${name} has the fields, types, formats, bounds and required marks of the interface`, () => {
    const schema = at(schemas, name)

    assert.equal(schema['type'], 'object')
    assert.deepEqual(withoutWords(schema['properties']), expected.properties)
    assert.deepEqual(schema['required'] ?? [], expected.required)
    assert.equal(schema['additionalProperties'] === false, closedSchemas.has(name))
  })
}

for (const expected of expectedOperations) {
  const { method, path } = expected
  test(`${method} ${path} has the parameters, body and statuses of the interface`, () => {
    const operation = at(document, 'paths', path, method)

    assert.deepEqual(operation['servers'], [{ url: servers[expected.server] }])
    assert.deepEqual(operation['security'], expected.isPublic ? [] : operation['security'])
    assert.equal(asList(operation['security']).length, expected.isPublic ? 0 : 1)
    assert.deepEqual(withoutWords(operation['parameters'] ?? []), expected.parameters)
    assert.deepEqual(bodySchemaOf(operation), expected.body)
    assert.deepEqual(responseSchemasOf(operation), expected.responses)
    assert.ok(!('x-addition' in operation))
  })
}

test('every operation but the five of the interface is marked as an addition and tagged so', () => {
  const own = new Set(expectedOperations.map(({ method, path }) => `${method} ${path}`))

  for (const { key, operation } of listOperations()) {
    assert.equal(operation['x-addition'] === true, !own.has(key), key)
    assert.equal(asList(operation['tags']).includes('Additions'), !own.has(key), key)
  }
  assert.equal(listOperations().filter(({ key }) => own.has(key)).length, 5)
})

test('the document holds every operation of the table once', () => {
  const keys = operations.map(({ method, path }) => `${method} ${path}`)

  assert.equal(new Set(keys).size, keys.length)
  assert.deepEqual(new Set(listOperations().map(({ key }) => key)), new Set(keys))
})

test('operation ids are unique, so that generated clients have one method for each', () => {
  const ids = listOperations().map(({ operation }) => operation['operationId'])

  assert.equal(new Set(ids).size, ids.length)
})

test('every reference resolves and every component is referred to', () => {
  const references = new Set<string>()
  walk(document, (node) => {
    if (typeof node['$ref'] === 'string') references.add(node['$ref'])
  })

  const names = ['schemas', 'headers', 'examples'].flatMap((kind) =>
    Object.keys(at(document, 'components', kind)).map((name) => `#/components/${kind}/${name}`)
  )
  assert.deepEqual([...references].toSorted(), names.toSorted())
})

test('every schema is one of JSON Schema 2020-12, the dialect of OpenAPI 3.1', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false })
  const id = 'https://ads.example/openapi.json'
  ajv.addVocabulary(Object.keys(document))
  ajv.addSchema({ $id: id, ...document })
  const inlined = new Set<string>()
  walk(document, (node) => {
    if (!isJson(node['schema'])) return
    inlined.add(JSON.stringify(node['schema']).replaceAll('"#/', `"${id}#/`))
  })
  for (const schema of inlined) assert.doesNotThrow(() => ajv.compile(asJson(JSON.parse(schema))))
  assert.ok(inlined.size > 100)
})

test('path parameters are declared exactly as the path spells them', () => {
  for (const { key, operation } of listOperations()) {
    const spelled = [...key.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const declared = asList(operation['parameters'] ?? [])
      .map(asJson)
      .filter((parameter) => parameter['in'] === 'path')

    assert.deepEqual(
      declared.map((parameter) => parameter['name']),
      spelled,
      key
    )
    assert.ok(declared.every((parameter) => parameter['required'] === true))
  }
})

test('every operation answers with a described status, and every media type has a schema', () => {
  for (const { key, operation } of listOperations()) {
    const responses = at(operation, 'responses')
    assert.ok(Object.keys(responses).length > 0, key)
    for (const [status, response] of Object.entries(responses)) {
      assert.match(status, /^([2-5]\d\d|default)$/)
      assert.equal(typeof asJson(response)['description'], 'string')
    }
    walk(operation, (node) => {
      if (!('content' in node)) return
      for (const media of Object.values(at(node, 'content'))) assert.ok('schema' in asJson(media))
    })
  }
})

test('operations with a key name the bearer scheme and each scope that is enough', () => {
  for (const operation of operations) {
    const described = at(document, 'paths', operation.path, operation.method)
    const { access } = operation
    const scopes = access === null ? undefined : [access.scope, ...(access.otherScopes ?? [])]

    assert.deepEqual(described['security'], access === null ? [] : [{ bearer: [] }])
    assert.deepEqual(described['x-scopes'], scopes)
    const [scope = '', ...others] = scopes ?? []
    const words = others.length > 0 ? 'any of the scopes `x-scopes`' : `the scope \`${scope}\``
    assert.equal(String(described['description']).includes(words), access !== null)
  }
  assert.equal(at(document, 'components', 'securitySchemes', 'bearer')['scheme'], 'bearer')
})

test('operations that name an advertiser or, without one, a publisher in their path are bound to it', () => {
  for (const operation of operations) {
    const isBound = operation.access?.isAdvertiserBound === true
    assert.equal(isBound, operation.path.includes('{advertiserId}'), operation.path)
    if (operation.tag !== 'Campaign') continue
    const isPublisherBound = operation.access?.isPublisherBound === true
    // Beside an advertiser a publisher only tells which purchase is meant.
    const isPublishers = !isBound && operation.path.includes('{publisherId}')
    assert.equal(isPublisherBound, isPublishers, operation.path)
  }
})

test('the document says its version and that of OpenAPI', () => {
  assert.equal(document['openapi'], '3.1.0')
  assert.equal(at(document, 'info')['version'], '1.2.3')
})

function listOperations(): { key: string; operation: Json }[] {
  return Object.entries(at(document, 'paths')).flatMap(([path, item]) =>
    Object.entries(asJson(item)).map(([method, operation]) => ({
      key: `${method} ${path}`,
      operation: asJson(operation),
    }))
  )
}

function bodySchemaOf(operation: Json): unknown {
  if (!('requestBody' in operation)) return null
  const body = at(operation, 'requestBody')
  assert.equal(body['required'], true)
  return at(body, 'content', 'application/json', 'schema')
}

/** Without what goes beyond the statuses of the interface. */
function responseSchemasOf(operation: Json): unknown {
  const named = Object.entries(at(operation, 'responses')).filter(
    ([, response]) => asJson(response)['x-addition'] !== true
  )
  return Object.fromEntries(
    named.map(([status, response]) => {
      const media = Object.values(at(asJson(response), 'content'))
      assert.equal(media.length, 1)
      return [status, withoutWords(asJson(media[0])['schema'])]
    })
  )
}

/** Descriptions, titles, defaults and examples are for readers and rule nothing. */
function withoutWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutWords)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]: [string, unknown]) => !isWord(key, inner))
      .map(([key, inner]: [string, unknown]) => [key, withoutWords(inner)])
  )
}

function isWord(key: string, value: unknown): boolean {
  const isText = ['description', 'title'].includes(key) && typeof value === 'string'
  return isText || ['default', 'example'].includes(key)
}

function walk(node: unknown, visit: (node: Json) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) visit(asJson(node))
  for (const inner of Object.values(node)) walk(inner, visit)
}

function at(node: Json, ...path: string[]): Json {
  return path.reduce((inner, key) => asJson(inner[key]), node)
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

function asJson(value: unknown): Json {
  assert.ok(isJson(value))
  return value
}

function asList(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value))
  return value
}
