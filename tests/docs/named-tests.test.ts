// Pages that name the test behind each sentence: a test that is renamed or removed takes its sentence along.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const pages = ['docs/promises.md', 'docs/faults.md']

interface Named {
  readonly file: string
  readonly name: string
}

function namedIn(page: string): readonly Named[] {
  const text = readFileSync(page, 'utf8')
  return [...text.matchAll(/`(tests\/[\w./-]+)`: "((?:[^"\\]|\\.)+)"/g)].map((match) => ({
    file: match[1] ?? '',
    name: (match[2] ?? '').replaceAll('\\"', '"'),
  }))
}

/** As the source spells it, with its placeholders. */
function isTest({ file, name }: Named): boolean {
  if (!existsSync(file)) return false
  const source = readFileSync(file, 'utf8')
  return ["'", '"', '`'].some((quote) =>
    ['test(', 'it(', 'test(\n  ', 'test(\n    '].some((call) =>
      source.includes(`${call}${quote}${name}${quote}`)
    )
  )
}

for (const page of pages) {
  test(`${page} names a test in every row, and each of them exists`, () => {
    const rows = readFileSync(page, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|') && !/^\|\s*(-|the fault|promise\b)/.test(line))
    const named = namedIn(page)

    assert.ok(named.length >= rows.length && rows.length > 10)
    assert.deepEqual(
      rows.filter((row) => !row.includes('`tests/')),
      []
    )
    assert.deepEqual(
      named.filter((one) => !isTest(one)),
      []
    )
  })
}
