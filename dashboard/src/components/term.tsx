// A term with a sentence that explains it. `explanations.tsx` shows the sentence.
import type { ComponentChildren } from 'preact'

interface TermProps {
  /** Its name in the glossary, in the section about the dashboard. */
  readonly term: string
  readonly children: ComponentChildren
}

const prefix = 'term-'

/** The id of the sentence, for what is described by it. */
export function descriptionOf(term: string | undefined): string | undefined {
  return term === undefined ? undefined : prefix + term
}

/** The term that describes an element, if one does. */
export function termOf(element: Element): string | null {
  const id = element.getAttribute('aria-describedby') ?? ''
  return id.startsWith(prefix) ? id.slice(prefix.length) : null
}

/** For headings that do nothing else. */
export function Term({ term, children }: TermProps) {
  return (
    <button type="button" class="term" aria-describedby={descriptionOf(term)}>
      <Words term={term}>{children}</Words>
    </button>
  )
}

interface WordsProps extends Omit<TermProps, 'term'> {
  readonly term: string | undefined
}

/** For the words in a control that does something else, and that is described by the term itself. */
export function Words({ term, children }: WordsProps) {
  if (term === undefined) return <span>{children}</span>
  return (
    // The title of what is around would lie over the sentence.
    <span class="words" data-term={term} title="">
      {children}
    </span>
  )
}
