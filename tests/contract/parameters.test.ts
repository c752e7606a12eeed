import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { afterParameter, dateRange, int32, limitParameter } from '../../src/contract/fields.ts'
import { compileParameters, rangeFaults } from '../../src/contract/parameters.ts'

const schema = Type.Object({
  ...dateRange({ zone: 'UTC', daysMax: 31 }),
  id: Type.Optional(int32()),
  dryRun: Type.Optional(Type.Boolean()),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
  after: afterParameter({ pattern: '^[0-9]+$' }),
  limit: limitParameter,
})
const parse = compileParameters(schema, (range) => rangeFaults(range, 31))

function read(query: string) {
  const parameters = new URLSearchParams(query)
  return parse((name) => parameters.getAll(name))
}

const range = 'startDate=2026-03-01&endDate=2026-03-31'

test('what the texts spell comes out as values of their types, and nothing else does', () => {
  assert.deepEqual(read(`${range}&id=-5&dryRun=false&name=%F0%9F%98%80&after=7&limit=9&other=1`), {
    ok: true,
    value: {
      startDate: '2026-03-01',
      endDate: '2026-03-31',
      id: -5,
      dryRun: false,
      name: '😀',
      after: '7',
      limit: 9,
    },
  })
})

test('every parameter that breaks its rule is named with the whole rule, all of them at once', () => {
  const query = 'startDate=1&id=007&dryRun=1&name=long&after=x&limit=0&limit=1'

  assert.deepEqual(read(query), {
    ok: false,
    messages: [
      'startDate must be a date such as 2026-03-01',
      'endDate is required',
      'id must be an integer of 32 bits',
      'dryRun must be true or false',
      'name must be text of 1 to 3 characters',
      'after must be the next of the page before, unchanged',
      'limit must be given once',
    ],
  })
})

test('a rule over several parameters is told beside the faults of the others', () => {
  const turned = 'startDate=2026-03-02&endDate=2026-03-01'
  const long = 'startDate=2026-03-01&endDate=2026-04-01'

  assert.deepEqual(
    [`${turned}&limit=x`, long].map((query) => read(query)),
    [
      ['limit must be an integer from 1 to 1000', 'startDate must not be after endDate'],
      ['endDate must be at most 31 days from startDate, both included'],
    ].map((messages) => ({ ok: false, messages }))
  )
})

test('text that the warehouse refuses is refused as a parameter', () => {
  const messages = ['name must be text without lone surrogates or U+0000']
  for (const text of ['%00', 'ab%00', 'a%00and%20more']) {
    assert.deepEqual(read(`${range}&name=${text}`), { ok: false, messages })
  }
})
