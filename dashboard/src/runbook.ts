// The sections of docs/runbook.md, which come with the dashboard: whoever is called at night needs them on this page.

export type Inline = { readonly kind: 'text' | 'strong' | 'code'; readonly text: string }

export type Block =
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'list'; readonly items: readonly (readonly Inline[])[] }

/** The part of Markdown that the runbook uses: paragraphs, lists, strong text, code and links. */
export function sectionOf(markdown: string, heading: string): readonly Block[] {
  const [, section = ''] = `\n${markdown}`.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return own
    .split(/\n{2,}/u)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map((block) =>
      block.startsWith('- ')
        ? { kind: 'list', items: block.split(/^- /mu).slice(1).map(inlinesOf) }
        : { kind: 'paragraph', inlines: inlinesOf(block) }
    )
}

function inlinesOf(source: string): readonly Inline[] {
  // Pages that links lead to are not served here, so their words stay alone, and numbers of decisions go.
  const plain = source
    .replaceAll(/ \(\[\d{4}\]\([^)]+\)\)/gu, '')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/gu, '$1')
    .trim()
  return plain
    .split(/(\*\*[^*]+\*\*|`[^`]+`)/u)
    .filter((part) => part !== '')
    .map((part) => {
      if (part.startsWith('**')) return { kind: 'strong', text: part.slice(2, -2) }
      if (part.startsWith('`')) return { kind: 'code', text: part.slice(1, -1) }
      return { kind: 'text', text: part }
    })
}
