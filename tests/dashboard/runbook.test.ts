import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sectionOf } from '../../dashboard/src/runbook.ts'

const runbook = readFileSync('docs/runbook.md', 'utf8')
const alerts = [
  ...readFileSync('docs/alerts.yaml', 'utf8').matchAll(/^ {6}- alert: (\w+)$/gmu),
].map(([, name = '']) => name)

test('the dashboard has what to do about every alert, without marks of Markdown', () => {
  for (const alert of alerts) {
    const blocks = sectionOf(runbook, alert)
    const shown = blocks
      .flatMap((block) => (block.kind === 'list' ? block.items : [block.inlines]))
      .flat()
    const text = shown.map((inline) => inline.text).join('')
    for (const heading of ['Meaning.', 'Do.']) {
      assert.ok(
        shown.some(({ kind, text: words }) => kind === 'strong' && words === heading),
        `${alert} has no ${heading}`
      )
    }
    assert.doesNotMatch(text, /\*\*|`|\]\(|^## /mu)
  }
})

test('lists, code and links are told apart, and a section ends where the next one begins', () => {
  const markdown =
    '# Book\n\n## One\n\nSee [the log](x.md) of `ship`.\n\n- a **b**\n- c\n\n## Two\n\nNo.\n'
  assert.deepEqual(sectionOf(markdown, 'One'), [
    {
      kind: 'paragraph',
      inlines: [
        { kind: 'text', text: 'See the log of ' },
        { kind: 'code', text: 'ship' },
        { kind: 'text', text: '.' },
      ],
    },
    {
      kind: 'list',
      items: [
        [
          { kind: 'text', text: 'a ' },
          { kind: 'strong', text: 'b' },
        ],
        [{ kind: 'text', text: 'c' }],
      ],
    },
  ])
  assert.deepEqual(sectionOf(markdown, 'Three'), [])
})
