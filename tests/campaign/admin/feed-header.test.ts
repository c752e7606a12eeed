import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delimiterSaid, parseHeader } from '../../../src/campaign/admin/feed/feed-header.ts'

const line = (text: string) => ({ number: 1, bytes: Buffer.from(text) })

test('a line before the header says the delimiter, as Excel reads and writes it', () => {
  for (const delimiter of ['\t', ',', ';']) {
    for (const text of [`sep=${delimiter}`, `SEP=${delimiter}\r`, `"sep=${delimiter}"`]) {
      assert.equal(delimiterSaid(line(text)), delimiter, JSON.stringify(text))
    }
  }
})

test('no other line says a delimiter', () => {
  for (const text of ['', 'sep=', 'sep=|', 'sep=;;', 'sep;', 'gtin;sep=;', 'gtin;title']) {
    assert.equal(delimiterSaid(line(text)), null, JSON.stringify(text))
  }
  assert.equal(delimiterSaid({ number: 1, bytes: null }), null)
})

test('what was said holds, whatever occurs more often in the names of the columns', () => {
  const header = line('gtin;title;"a,b,c,d"')

  const said = parseHeader(header, ';')

  assert.ok(said.ok)
  assert.equal(said.header.delimiter, ';')
  assert.equal(said.header.columnCount, 3)
  assert.ok(!parseHeader(header, null).ok)
})

test('another delimiter is refused by its rule', () => {
  const refused = parseHeader(line('sep=|'), null)

  assert.ok(!refused.ok)
  assert.match(refused.messages.join(' '), /Its sep= must name a tab, a comma or a semicolon\.$/)
})
