import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { layoutOf, plainLayout, wrapText } from '../../src/cli/layout.ts'
import { formatTable } from '../../src/cli/table.ts'
import { answerWith, run, useCliServer } from './harness.ts'

useCliServer()

const keys = ['1', '2'].map((id) => ({
  id: `key_${id}`,
  name: 'Monitoring of the shop in the north',
  advertisers: [1, 2],
  publishers: 'all',
  scopes: ['report:read', 'asset:write', 'delivery:write'],
  createdAt: '2026-03-01T00:00:00.000Z',
}))

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length))
}

test('a table fits the terminal with every word whole, and is whole when piped or with --wide', async () => {
  answerWith(200, { keys })
  const piped = await run(['keys', 'list'])
  const wide = await run(['keys', 'list', '--wide', '--no-color'], { columns: 60 })
  assert.equal(wide.stdout, piped.stdout)
  assert.equal(piped.stdout.trimEnd().split('\n').length, 3)

  // A column without any value is the first to go.
  const empty = new Set(['INVITED', 'SIGN', 'ON', 'EXPIRES', 'REVOKED', 'COMPROMISED', 'SINCE'])
  const words = piped.stdout.split(/[\s,]+/u).filter((word) => word !== '')
  for (const columns of [200, 132, 100, 80, 60, 46]) {
    const { stdout } = await run(['keys', 'list', '--no-color'], { columns })
    assert.ok(widest(stdout) <= columns, `${columns}:\n${stdout}`)
    const said = words.filter((word) => columns > 132 || word !== '-')
    for (const word of said.filter((one) => !empty.has(one))) assert.ok(stdout.includes(word), word)
  }
})

test('cells are wrapped while the longest words fit beside each other, and rows are stacked below that', () => {
  const header = ['ID', 'WHAT']
  const rows = [
    ['key_1', 'one two three'],
    ['key_2', 'a,b,c'],
  ]
  const at = (width: number) => formatTable(header, rows, { width, hasColor: false })

  assert.equal(at(20), 'ID     WHAT\nkey_1  one two three\nkey_2  a,b,c')
  assert.equal(at(14), 'ID     WHAT\nkey_1  one two\n       three\nkey_2  a,b,c')
  assert.equal(at(11), 'ID    key_1\nWHAT  one\n      two\n      three\n\nID    key_2\nWHAT  a,b,c')
})

test('a word that is longer than the terminal is not broken, so that it can be copied', () => {
  const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
  const text = formatTable(['ID'], [[id]], { width: 10, hasColor: false })

  assert.ok(text.includes(id))
})

test('lines are broken after blanks and the commas of lists, but not inside a number', () => {
  assert.deepEqual(wrapText('a list: x,y', 10), ['a list: x,', 'y'])
  assert.deepEqual(wrapText('it is 1,000', 8), ['it is', '1,000'])
  assert.deepEqual(wrapText('', 8), [''])
})

test('instants show no digits that nobody measured', async () => {
  const at = '2026-03-01T10:00:00.312000Z'
  const record = { at, id: 'r', keyId: 'k', keyName: '', action: 'a', subject: 's', details: {} }
  answerWith(200, { records: [record, { ...record, at: '2026-03-01T10:00:00.312001Z' }] })

  const { stdout } = await run(['audit'])

  assert.match(stdout, /\n2026-03-01T10:00:00\.312Z /u)
  assert.match(stdout, /\n2026-03-01T10:00:00\.312001Z /u)
})

function colors(output: object, environment: Readonly<Record<string, string>>): boolean {
  return layoutOf(Object.assign(new PassThrough(), output), environment).hasColor
}

test('colors are for terminals, unless the environment or --no-color says otherwise', async () => {
  const terminal = { isTTY: true, columns: 80 }
  const pipe = {}

  assert.equal(colors(terminal, {}), true)
  assert.equal(colors(pipe, {}), false)
  assert.equal(colors(terminal, { NO_COLOR: '1' }), false)
  assert.equal(colors(terminal, { NO_COLOR: '' }), true)
  assert.equal(colors(terminal, { TERM: 'dumb' }), false)
  assert.equal(colors(pipe, { FORCE_COLOR: '1' }), true)
  assert.equal(colors(terminal, { FORCE_COLOR: '0' }), false)
  assert.equal(colors(terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }), false)

  answerWith(200, { keys })
  const escape = '\u001b['
  assert.ok((await run(['keys', 'list'], { columns: 80 })).stdout.includes(escape))
  assert.ok(!(await run(['keys', 'list'])).stdout.includes(escape))
  assert.ok(!(await run(['--no-color', 'keys', 'list'], { columns: 80 })).stdout.includes(escape))
  assert.ok((await run(['help'], { columns: 80 })).stdout.includes(escape))
  assert.ok((await run(['sevre'], { isTTY: true })).stderr.startsWith(`${escape}31mshelftrace:`))
  assert.equal(formatTable(['A'], [['b']], plainLayout), 'A\nb')
})
