// Every operation has examples that its own schemas take. tests/e2e/examples.test.ts sends them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examples } from '../../src/contract/examples/examples.ts'
import { operations } from '../../src/contract/operations.ts'
import { compileParameters } from '../../src/contract/parameters.ts'
import type { Operation } from '../../src/contract/operation.ts'
import type { OperationResponse } from '../../src/contract/responses.ts'
import { compile } from '../../src/contract/validate.ts'
import { Type } from 'typebox'

test('every operation has an example, and no example is of anything else', () => {
  const ids = operations.map(({ operationId }) => operationId)

  assert.deepEqual(Object.keys(examples).toSorted(), ids.toSorted())
})

for (const operation of operations) {
  const { operationId, body } = operation
  const { path = {}, query = {}, body: sent, answers = {} } = examples[operationId] ?? {}

  test(`${operationId}: the example is a request that keeps every rule`, () => {
    assert.deepEqual(parameterFaults(operation, { path, query }), [])
    assert.equal(sent !== undefined, body !== null)
    if (body === null) return
    if (body.isStream) assert.equal(typeof sent, 'string')
    else assert.deepEqual(body.parse(sent).ok, true, JSON.stringify(body.parse(sent)))
  })

  test(`${operationId}: every answer with words in it has an example that fits its schema`, () => {
    const told = operation.responses.filter((response) => isTold(response))

    assert.deepEqual(
      Object.keys(answers),
      told.map(({ status }) => status)
    )
    for (const { status, content } of told) {
      for (const value of valuesOf(answers[status], content?.mediaType ?? '')) {
        assert.deepEqual(compile(content?.schema ?? Type.Never())(value), [])
      }
    }
  })
}

/** A refusal has the examples of its codes, and an image is nothing to read. */
function isTold({ content, codes }: OperationResponse): boolean {
  return codes === undefined && content !== null && !content.mediaType.startsWith('image/')
}

function valuesOf(example: unknown, mediaType: string): readonly unknown[] {
  if (mediaType !== 'application/x-ndjson') return [example]
  return String(example)
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

type Texts = Readonly<Record<string, string | number | boolean>>

function parameterFaults(
  operation: Operation,
  { path, query }: { readonly path: Texts; readonly query: Texts }
): readonly string[] {
  const { pathParameters = Type.Object({}), queryParameters = Type.Object({}) } = operation
  const parsePath = compileParameters(pathParameters)
  const parseQuery = compileParameters(
    queryParameters,
    (values) => operation.queryFaults?.({ ...values }) ?? []
  )
  const parsed = [parsePath(textsOf(path)), parseQuery(textsOf(query))]
  const known = { ...pathParameters.properties, ...queryParameters.properties }
  return [
    ...Object.keys({ ...path, ...query }).filter((name) => !(name in known)),
    ...parsed.flatMap((one) => (one.ok ? [] : one.messages)),
  ]
}

function textsOf(given: Texts) {
  return (name: string) => (name in given ? [String(given[name])] : [])
}
