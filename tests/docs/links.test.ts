import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readAnchors, readLinks } from './markdown.ts'

const pages = [
  ...readdirSync('.').filter((file) => file.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
]

function isWeb(link: string): boolean {
  return URL.canParse(link)
}

/** Null if the link leads somewhere. */
function faultOf(page: string, link: string): string | null {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), decodeURIComponent(path))
  if (!existsSync(target)) return `${page}: ${link} leads to no file`
  if (anchor === undefined) return null
  return readAnchors(target).has(anchor) ? null : `${page}: ${link} leads to no heading`
}

test('every relative link and anchor of the documents leads somewhere', () => {
  const relative = pages.flatMap((page) =>
    readLinks(page)
      .filter((link) => !isWeb(link))
      .map((link) => ({ page, link }))
  )

  assert.ok(relative.length > 20, 'links are found at all')
  const faults = relative.map(({ page, link }) => faultOf(page, link))
  assert.deepEqual(
    faults.filter((fault) => fault !== null),
    []
  )
})

test('links out of the repository are https', () => {
  const web = pages.flatMap(readLinks).filter(isWeb)

  assert.ok(web.length > 0)
  for (const link of web) assert.equal(new URL(link).protocol, 'https:', link)
})

test('every page of the documents can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    for (const link of readLinks(page).filter((target) => !isWeb(target))) {
      const target = join(dirname(page), link.split('#')[0] ?? '')
      if (pages.includes(target)) reached.add(target)
      // A link to a folder shows its list of files.
      for (const other of pages) if (dirname(other) === target) reached.add(other)
    }
  }

  assert.deepEqual(
    pages.filter((page) => !reached.has(page)),
    []
  )
})
