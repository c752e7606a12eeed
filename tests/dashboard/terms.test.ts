// The glossary and the pages know the same terms.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { columns } from '../../dashboard/src/columns.ts'
import { comparedMetrics, metrics } from '../../dashboard/src/metrics.ts'
import { termsOf } from '../../dashboard/terms.ts'
import { findTexts, readSources } from './texts.ts'

const terms = termsOf(readFileSync('docs/GLOSSARY.md', 'utf8'))
const explained = terms.flatMap(({ keys }) => keys)
const sources = readSources()
/** Where a heading names its term, or a control the term that describes it. */
const named = sources.flatMap(({ text }) =>
  [...text.matchAll(/\bterm(?:=|: |Of\()["']([\w-]+)["']|\bdescriptionOf\('([\w-]+)'\)/gu)].map(
    ([, heading, control]) => heading ?? control ?? ''
  )
)

test('every row of the section is read, with its names, headings and sentence', () => {
  const [, section = ''] = readFileSync('docs/GLOSSARY.md', 'utf8').split('## In the dashboard')
  const rows = section.split('\n').filter((line) => line.startsWith('| **'))

  assert.equal(terms.length, rows.length)
  assert.ok(terms.length > 25)
  assert.deepEqual(
    termsOf('\n## In the dashboard\n\n| **A b**, **C** | `A`, `b-c` | Is so.   |\n'),
    [{ keys: ['A', 'b-c'], labels: ['A b', 'C'], sentence: 'Is so.' }]
  )
  for (const { sentence } of terms) assert.match(sentence, /^\p{Lu}[^|`*[]+\.$/u)
  assert.equal(new Set(explained).size, explained.length)
})

test('every total, every column of reports and every heading with a term has a sentence', () => {
  assert.ok(named.length > 10)
  const shown = [
    ...Object.keys(columns),
    ...[...metrics, ...comparedMetrics].map(({ name }) => name),
    ...named,
  ]
  assert.deepEqual(
    shown.filter((name) => !explained.includes(name)),
    []
  )
})

test('the glossary explains nothing that no page shows, in the words of the pages', () => {
  const shown = new Set([...Object.keys(columns), ...named])
  assert.deepEqual(
    explained.filter((key) => !shown.has(key)),
    []
  )
  const texts = new Set(sources.flatMap((source) => findTexts(source).keys))
  assert.deepEqual(
    terms.flatMap(({ labels }) => labels).filter((label) => !texts.has(label)),
    []
  )
})
