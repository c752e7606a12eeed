import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecordCounter } from '../../src/client/record-counter.ts'
import { csvRow } from '../../src/domain/csv.ts'

const anyRecords = () =>
  fc.array(
    fc.array(
      fc.string({ unit: 'binary' }).map((text) => ({ text })),
      { minLength: 1, maxLength: 4 }
    ),
    {
      minLength: 1,
      maxLength: 8,
    }
  )

function count(parts: readonly Uint8Array[]): RecordCounter {
  const counter = new RecordCounter()
  for (const part of parts) counter.add(part)
  return counter
}

test('a file as the service writes it has as many records as rows, however its bytes are cut', () => {
  fc.assert(
    fc.property(anyRecords(), fc.array(fc.nat()), (records, cuts) => {
      const bytes = Buffer.from(records.map(csvRow).join(''))
      const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].toSorted(
        (a, b) => a - b
      )
      const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))

      const counter = count(parts)

      return counter.recordCount === records.length && counter.isAtEnd
    })
  )
})

test('a file that is cut anywhere has fewer records or ends in the middle of one', () => {
  fc.assert(
    fc.property(anyRecords(), fc.nat(), (records, cut) => {
      const bytes = Buffer.from(records.map(csvRow).join(''))

      const counter = count([bytes.subarray(0, cut % bytes.length)])

      return counter.recordCount < records.length || !counter.isAtEnd
    })
  )
})

test('line ends and quotes inside quotes end nothing', () => {
  const counter = count([Buffer.from('a,"b\r\n""c""\n"\r\nd,e\r\n')])

  assert.equal(counter.recordCount, 2)
  assert.ok(counter.isAtEnd)
})
