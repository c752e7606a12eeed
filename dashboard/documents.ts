// The guides and the changelog as pages of the dashboard, read when it is built: operators without the internet have
// them, and those of the version that runs.
import { basename } from 'node:path'
import { Marked, Renderer } from 'marked'
import { isDocument } from './document-names.ts'

const marked = new Marked({
  renderer: {
    /** Links lead to pages of the dashboard or out of it. What is in neither is text. */
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      if (/^https?:/u.test(href)) {
        const escaped = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
        return `<a href="${escaped}" rel="noreferrer">${text}</a>`
      }
      const name = basename(href.replace(/#.*$/u, ''), '.md').toLowerCase()
      return isDocument(name) ? `<a href="#/help/${name}">${text}</a>` : text
    },
    // What scrolls by itself must be reached by keys.
    code(token) {
      return Renderer.prototype.code.call(this, token).replace('<pre>', '<pre tabindex="0">')
    },
    table(token) {
      return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`
    },
  },
})

export function htmlOf(markdown: string): string {
  return marked.parse(markdown, { async: false })
}
