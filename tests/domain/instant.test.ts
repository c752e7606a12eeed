import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseInstant } from '../../src/domain/instant.ts'

test('an instant is read to the millisecond, in any offset', () => {
  assert.equal(parseInstant('2026-03-02T10:00:00Z'), Date.UTC(2026, 2, 2, 10))
  assert.equal(parseInstant('2026-03-02T10:00:00.123Z'), Date.UTC(2026, 2, 2, 10, 0, 0, 123))
  assert.equal(parseInstant('2026-03-02T10:00:00.1239Z'), Date.UTC(2026, 2, 2, 10, 0, 0, 123))
  assert.equal(parseInstant('2026-03-02T01:00:00+02:00'), Date.UTC(2026, 2, 1, 23))
})

test('what does not name one instant is refused', () => {
  const faulty = [
    '',
    '2026-03-02',
    '2026-03-02T10:00Z',
    '2026-03-02T10:00:00',
    '2026-03-02 10:00:00Z',
    '2026-03-02T24:00:00Z',
    '2026-03-02T10:60:00Z',
    '2026-03-02T10:00:60Z',
    '2026-02-30T10:00:00Z',
    '2026-03-02T10:00:00+24:00',
    '2026-03-02t10:00:00z',
    '+002026-03-02T10:00:00Z',
    ' 2026-03-02T10:00:00Z',
    '2026-03-02T10:00:00Z\n',
    '0000-01-01T00:00:00Z',
  ]
  for (const text of faulty) assert.equal(parseInstant(text), null, text)
})

test('what a date prints is read back', () => {
  const dates = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(dates, (date) => {
      assert.equal(parseInstant(date.toISOString()), date.getTime())
    })
  )
})
