import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RowLines } from '../../src/warehouse/row-lines.ts'
import { parseRows } from '../../src/warehouse/warehouse.ts'

const instant = '2026-11-29 10:00:00.123456'
const laterInstant = '2026-11-29 10:00:01.000000'

function linesOf(values: readonly string[]): RowLines {
  const lines = new RowLines('delivery_in', ['text'])
  for (const [index, value] of values.entries()) lines.add(JSON.stringify(value), index)
  lines.stamp(instant)
  return lines
}

test('rows of any length and alphabet stay as they were added, also beyond the room there was', () => {
  const values = Array.from({ length: 3_000 }, (_, index) => 'ä漢😀"\n\\'.repeat(index % 40))

  const lines = linesOf([...values, 'x'.repeat(1_000_000)])

  assert.equal(lines.count, 3_001)
  const rows = parseRows(lines.slice(0, lines.count))
  assert.deepEqual(
    rows,
    [...values, 'x'.repeat(1_000_000)].map((value) => [instant, value])
  )
})

test('a part holds its rows alone, and a row tells its source', () => {
  const lines = linesOf(['a', 'b', 'c', 'd'])

  assert.deepEqual(parseRows(lines.slice(1, 3)), [
    [instant, 'b'],
    [instant, 'c'],
  ])
  assert.equal(lines.slice(2, 2).length, 0)
  assert.equal(lines.sourceOf(3), 3)
})

test('the latest stamp counts', () => {
  const lines = linesOf(['a', 'b'])

  lines.stamp(laterInstant)

  assert.deepEqual(parseRows(lines.slice(0, 2)), [
    [laterInstant, 'a'],
    [laterInstant, 'b'],
  ])
})

test('rows are chosen by their source: all, some, none', () => {
  const lines = linesOf(['a', 'b', 'c'])

  assert.deepEqual(parseRows(lines.linesFrom(() => true)).length, 3)
  assert.deepEqual(parseRows(lines.linesFrom((source) => source !== 1)), [
    [instant, 'a'],
    [instant, 'c'],
  ])
  assert.equal(lines.linesFrom(() => false).length, 0)
})

test('cleared lines hold nothing of before', () => {
  const lines = linesOf(['a longer text than the next', 'b'])

  lines.clear()
  lines.add('"c"', 7)
  lines.stamp(instant)

  assert.deepEqual(parseRows(lines.slice(0, lines.count)), [[instant, 'c']])
  assert.equal(lines.sourceOf(0), 7)
})
