// The terms of docs/GLOSSARY.md that the dashboard explains where they stand. Read when the dashboard is built.

export interface Term {
  /** As the code names it: columns of reports, or a word. */
  readonly keys: readonly string[]
  /** As it stands on the pages, in English. */
  readonly labels: readonly string[]
  readonly sentence: string
}

/** The rows of the section: `| **CTR**, **Click-through rate** | `CLICK_THROUGH_RATE` | Clicks divided by impressions. |`. */
export function termsOf(glossary: string): readonly Term[] {
  const [, section = ''] = glossary.split('\n## In the dashboard\n')
  return [...section.matchAll(/^\| (\*\*.+?) +\| (`.+?) +\| (.+?) +\|$/gmu)].map(
    ([, labels = '', keys = '', sentence = '']) => ({
      keys: keys.replaceAll('`', '').split(', '),
      labels: labels.slice(2, -2).split('**, **'),
      sentence,
    })
  )
}
