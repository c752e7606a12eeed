// Lists that stand in a document and in the program: who changes one is told of the other.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { auditActions } from '../../src/contract/audit.ts'

const operatorGuide = readFileSync('docs/guides/operator.md', 'utf8')
const architecture = readFileSync('docs/ARCHITECTURE.md', 'utf8')
const contributing = readFileSync('CONTRIBUTING.md', 'utf8')

function sectionOf(text: string, heading: string): string {
  const [, rest = ''] = text.split(`\n## ${heading}\n`)
  return rest.split('\n## ')[0] ?? ''
}

test("the operator's guide lists every action that is audited, and no other", () => {
  const rows = sectionOf(operatorGuide, 'Who changed what').matchAll(/^\| `([a-z.-]+)` /gmu)

  assert.deepEqual([...rows].map(([, action]) => String(action)).toSorted(), [...auditActions])
})

test('every folder of the sources has its line among the modules', () => {
  const modules = sectionOf(architecture, 'Modules')
  const folders = readdirSync('src', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

  const missing = folders.filter((name) => !new RegExp(`\\b${name}\\b`, 'u').test(modules))

  assert.deepEqual(missing, [])
})

test('every source that the guides for developers name is there', () => {
  const texts = [architecture, contributing]
  const paths = texts.flatMap((text) =>
    [...text.matchAll(/`((?:src|tests|scripts|docs|bench)\/[\w./-]+\.\w+)`/gu)].map(
      ([, path]) => path ?? ''
    )
  )

  assert.ok(paths.length > 10)
  assert.deepEqual(
    paths.filter((path) => !path.includes('NNNN') && !existsSync(path)),
    []
  )
})

test('no document says that a shopper cannot be erased or that amounts are not converted', () => {
  for (const file of ['SECURITY.md', 'README.md', 'docs/guides/ad-server.md']) {
    const text = readFileSync(file, 'utf8')
    assert.doesNotMatch(text, /no operation yet|not converted yet|not built yet/u, file)
  }
})
