// Lists that stand in a document and in the program: who changes one is told of the other.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scopes } from '../../src/contract/admin.ts'
import { auditActions } from '../../src/contract/audit.ts'
import { operations } from '../../src/contract/operations.ts'

const operatorGuide = readFileSync('docs/guides/operator.md', 'utf8')
const architecture = readFileSync('docs/ARCHITECTURE.md', 'utf8')
const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const glossary = readFileSync('docs/GLOSSARY.md', 'utf8')
const readersPages = ['.', 'docs', 'docs/guides'].flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md')
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
)

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

test('each of six questions leads to a file that holds the named function or class', () => {
  const rows = [
    ...sectionOf(contributing, 'Where is it').matchAll(/^\| (a .+?) +\| `(.+?)` +\| `(.+?)`/gmu),
  ]

  assert.equal(rows.length, 6)
  for (const [, question = '', file = '', name = ''] of rows) {
    const definition = new RegExp(
      `(?:^export (?:async )?(?:function|class)|^  async) ${name}\\b`,
      'mu'
    )
    assert.match(readFileSync(file, 'utf8'), definition, question)
  }
})

/** Any value in the place of a parameter: `{advertiserId}`, `1`, `…`. */
function pathPattern(path: string): string {
  return path
    .split('/')
    .map((part) => (part.startsWith('{') ? '[^/\\s`"\'?]+' : part.replaceAll('.', String.raw`\.`)))
    .join('/')
}

test('every operation has its path in a document for its readers', () => {
  const undocumented = operations
    .map(({ path }) => path)
    .filter((path) => {
      const pattern = new RegExp(`${pathPattern(path)}(?![\\w/-])`, 'u')
      return !readersPages.some(({ text }) => pattern.test(text))
    })

  assert.deepEqual(undocumented, [])
})

test('every path that a document gives to its readers is one of an operation', () => {
  const known = operations.map(({ path }) => new RegExp(`^${pathPattern(path)}$`, 'u'))
  const mention = /(?<![.:/-])\/(?:admin\/v1|v2|display\/v2|conversion|returns?)\b[\w/.{}…-]*/gu
  const found = readersPages.flatMap(({ file, text }) =>
    [...text.replaceAll(/`tests\/[^`]+`/gu, '').matchAll(mention)].map(([path]) => ({
      file,
      path: path.replace(/[/.]$/u, ''),
    }))
  )

  assert.ok(found.length > 50)
  assert.deepEqual(
    found.filter(({ path }) => !known.some((pattern) => pattern.test(path))),
    []
  )
})

test('the glossary lists the scopes of keys, all and no other', () => {
  const [, row = ''] = /^\| \*\*scope\*\* .*?\|(.*)\|$/mu.exec(glossary) ?? []
  const listed = [...row.matchAll(/`([a-z:]+)`/gu)].map(([, scope]) => scope ?? '')

  assert.deepEqual(listed.toSorted(), [...scopes].toSorted())
})

test('no document says that a shopper cannot be erased or that amounts are not converted', () => {
  for (const file of ['SECURITY.md', 'README.md', 'docs/guides/ad-server.md']) {
    const text = readFileSync(file, 'utf8')
    assert.doesNotMatch(text, /no operation yet|not converted yet|not built yet/u, file)
  }
})
