import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  splitQuoted,
  splitTabs,
  type Delimiter,
} from '../../../src/campaign/admin/feed/feed-fields.ts'
import { RowReader, type FeedRowText } from '../../../src/campaign/admin/feed/feed-rows.ts'
import { lineBytesMax } from '../../../src/campaign/admin/line-reader.ts'

function readRows(text: string, delimiter: Delimiter): readonly FeedRowText[] {
  const reader = new RowReader(delimiter)
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const rows = lines.map((line, index) =>
    reader.push({ number: index + 1, bytes: Buffer.from(line) })
  )
  return [...rows, reader.end()].filter((row) => row !== null)
}

function quote(field: string): string {
  return `"${field.replaceAll('"', '""')}"`
}

const delimiter = fc.constantFrom<Delimiter>(',', ';')
const field = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', ' ', '"', ',', ';', '\t', '\n', '\r', "'"),
  maxLength: 8,
})
const table = fc.array(fc.array(field, { minLength: 2, maxLength: 5 }), { maxLength: 6 })

test('what is quoted by RFC 4180 comes back field by field, whatever it holds', () => {
  fc.assert(
    fc.property(delimiter, table, (by, rows) => {
      const text = rows.map((row) => `${row.map(quote).join(by)}\r\n`).join('')

      const read = readRows(text, by)

      // A carriage return before a line feed is a line end, also inside of quotes.
      const expected = rows
        .filter((row) => row.some((one) => one.trim() !== ''))
        .map((row) => row.map((one) => one.replaceAll(/\r(?=\n)/g, '')))
      assert.deepEqual(
        read.map(({ fields }) => fields),
        expected
      )
    })
  )
})

test('fields without quotes are taken as they stand, in TSV and in CSV', () => {
  assert.deepEqual(splitTabs('a\t\t 19" monitor \t"Best" tea'), [
    'a',
    '',
    ' 19" monitor ',
    '"Best" tea',
  ])
  assert.deepEqual(splitQuoted('a,,19" monitor,', ','), ['a', '', '19" monitor', ''])
})

test('a field of TSV that a spreadsheet has wrapped in quotes is unwrapped', () => {
  const cases = [
    ['"19"" monitor"', '19" monitor'],
    ['""', ''],
    ['"a"', 'a'],
    ['"', '"'],
    ['"""', '"""'],
    ['"a" and "b"', '"a" and "b"'],
  ] as const
  for (const [text, expected] of cases) assert.deepEqual(splitTabs(`x\t${text}`), ['x', expected])
})

test('a row of CSV reaches over as many lines as its quotes do, and is told by the first', () => {
  const rows = readRows('a,"1\r\n\n2"\r\n\n  \nb,c\n', ',')

  assert.deepEqual(
    rows.map(({ line, fields }) => [line, fields]),
    [
      [1, ['a', '1\n\n2']],
      [6, ['b', 'c']],
    ]
  )
})

test('rows of separators alone, as spreadsheets leave them, are blank lines', () => {
  const blank = [',,', ' , ,\u00a0', '"","",', '"', '",', ',', '   ,']
  const rows = readRows(`a,b\n${blank.join('\n')}\nc,\n,d\n`, ',')

  assert.deepEqual(
    rows.map(({ line, fields }) => [line, fields]),
    [
      [1, ['a', 'b']],
      [9, ['c', '']],
      [10, ['', 'd']],
    ]
  )
  assert.deepEqual(readRows('\t\t\r\n""\t""\n', '\t'), [])
})

test('text behind a closing quote and a quote that never closes are faults of their row', () => {
  assert.equal(splitQuoted('"a"b,c', ','), null)
  assert.equal(splitQuoted('a,"b', ','), null)
  const rows = readRows('a,b\n"x"y,1\nc,d\ne,"f\ng,h\n', ',')

  assert.deepEqual(
    rows.map(({ line, fields }) => [line, fields]),
    [
      [1, ['a', 'b']],
      [2, null],
      [3, ['c', 'd']],
      [4, null],
    ]
  )
  assert.match(rows.at(-1)?.fault ?? '', /a quote left open makes the row reach to the end/)
})

test('a quote left open takes a megabyte with it at most, and the rows behind are read again', () => {
  const filler = 'x'.repeat(65_536)
  const swallowed = Array.from({ length: 16 }, () => filler)

  const rows = readRows(['a,"b', ...swallowed, 'c,d'].join('\n'), ',')

  assert.deepEqual(
    rows.map(({ line, fields }) => [line, fields]),
    [
      [1, null],
      [18, ['c', 'd']],
    ]
  )
  const rule = `the row must have at most ${lineBytesMax} bytes`
  assert.equal(rows[0]?.fault, `${rule}; a quote left open makes it reach to line 17`)
})

test('bytes that are no UTF-8 are a fault, and leave the other fields readable', () => {
  const reader = new RowReader('\t')

  const row = reader.push({ number: 3, bytes: Buffer.from('4006\tCaf\xe9\r', 'latin1') })

  assert.deepEqual(row, {
    line: 3,
    fields: ['4006', 'Café'],
    fault: 'the row must be valid UTF-8',
  })

  // U+00A0 in Latin-1, which would be blank.
  const blank = new RowReader(',').push({ number: 1, bytes: Buffer.from(',\xa0', 'latin1') })
  assert.equal(blank?.fault, 'the row must be valid UTF-8')
})
