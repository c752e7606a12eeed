import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlOf } from '../../dashboard/documents.ts'

test('links of a document lead to other pages of the help or out of the dashboard, and are text otherwise', () => {
  const html = htmlOf(
    '[a](publisher.md) [b](docs/guides/operator.md#backups) [c](../reports.md) [d](#part) [e](https://example.org/x?a=1&b)'
  )

  assert.equal(
    html.trim(),
    '<p><a href="#/help/publisher">a</a> <a href="#/help/operator">b</a> c d <a href="https://example.org/x?a=1&amp;b" rel="noreferrer">e</a></p>'
  )
})

test('code and tables, which scroll by themselves, are reached by keys', () => {
  const html = htmlOf('```sh\na <b>\n```\n\n| x |\n| - |\n| 1 |\n')

  assert.match(html, /<pre tabindex="0"><code class="language-sh">a &lt;b&gt;/u)
  assert.match(html, /<div class="wide" tabindex="0"><table>/u)
})
