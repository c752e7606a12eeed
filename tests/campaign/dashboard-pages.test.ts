import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createDashboardPages } from '../../src/campaign/dashboard-pages.ts'
import { startHarness } from './harness.ts'

const folder = 'dist/dashboard'
const skip = existsSync(folder) ? false : 'dist/dashboard is missing; npm run build makes it'

function start(t: TestContext) {
  const pages = createDashboardPages(folder)
  const { app } = startHarness({ pages })
  t.after(() => app.close())
  return { app, pages }
}

function referencesOf(body: string): readonly string[] {
  return [...body.matchAll(/(?:src|href)="([^"]+)"/gu)]
    .map((match) => match[1] ?? '')
    .filter((reference) => !reference.startsWith('data:') && reference !== 'docs')
}

test(
  'all that the start page refers to is served from here, for good, and the page itself is asked for anew',
  { skip },
  async (t) => {
    const { app } = start(t)

    const index = await app.inject({ url: '/' })

    assert.equal(index.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(index.headers['cache-control'], 'no-cache')
    const references = referencesOf(index.body)
    // The page itself is asked for together with what starts it.
    for (const name of ['index', 'app']) {
      assert.ok(
        references.some((reference) => reference.startsWith(`./assets/${name}-`)),
        name
      )
    }
    for (const reference of references) {
      assert.match(reference, /^\.\/assets\/\w+-[\w-]{8}\.(js|css)$/u)
      const { statusCode, headers } = await app.inject({
        url: new URL(reference, 'http://x').pathname,
      })
      assert.equal(statusCode, 200)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.match(String(headers['content-type']), /^text\/(javascript|css); charset=utf-8$/u)
      assert.equal(headers['x-content-type-options'], 'nosniff')
    }
  }
)

test(
  'the page may run and ask what this port serves, show pictures from elsewhere, and do nothing else',
  { skip },
  async (t) => {
    const { app } = start(t)

    const { headers, body } = await app.inject({ url: '/' })

    assert.deepEqual(String(headers['content-security-policy']).split('; '), [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' https: data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.deepEqual(body.match(/<script(?![^>]*src=)|<style|style=|\son\w+=/gu), null)
  }
)

/** What is loaded when it is opened: the calendar of the period, the runbook of an alert. */
const opened = /\/(?:calendar|runbook)-/u
/** The documents of the help, each a page of its own. */
const documents = /\/document-/u

// With the files of all languages, of which a reader loads one at most.
test(
  'the first page is less than 150 kB as it is sent, and what is opened on it less than 50 kB',
  { skip },
  async (t) => {
    const { app, pages } = start(t)
    const byteCounts = { first: 0, opened: 0 }
    let documentCount = 0
    for (const { path } of pages) {
      const response = await app.inject({ url: path, headers: { 'accept-encoding': 'gzip' } })
      if (documents.test(path)) {
        documentCount += 1
        assert.ok(response.rawPayload.length < 50_000, path)
        continue
      }
      byteCounts[opened.test(path) ? 'opened' : 'first'] += response.rawPayload.length
    }
    const { body } = await app.inject({ url: '/' })

    t.diagnostic(`${byteCounts.first} and ${byteCounts.opened} bytes in ${pages.length} files`)
    assert.equal(pages.filter(({ path }) => opened.test(path)).length, 2)
    assert.equal(documentCount, 6)
    assert.deepEqual(
      referencesOf(body).filter((reference) => opened.test(reference) || documents.test(reference)),
      []
    )
    assert.ok(byteCounts.first < 150_000)
    assert.ok(byteCounts.opened < 50_000)
  }
)

test('nothing beside the built files is reached', { skip }, async (t) => {
  const { app } = start(t)
  for (const url of [
    '/index.html',
    '/assets/',
    '/assets/x.js',
    '/licenses.md',
    '/assets/..%2findex.html',
  ]) {
    assert.equal((await app.inject({ url })).statusCode, 404, url)
  }
})

test('a dashboard that was not built, or holds a file of an unknown type, ends the start', (t) => {
  const empty = mkdtempSync(join(tmpdir(), 'shelftrace-dashboard-'))
  t.after(() => rmSync(empty, { recursive: true, force: true }))
  assert.throws(() => createDashboardPages(empty), /index\.html/u)

  writeFileSync(join(empty, 'index.html'), '')
  mkdirSync(join(empty, 'assets'))
  writeFileSync(join(empty, 'assets', 'a.exe'), '')
  assert.throws(() => createDashboardPages(empty), /a\.exe is of a known type/u)
})
