import type { Figure as FigureText } from '../format.ts'

interface FigureProps {
  /** The text that the service gave. Programs can read it from the element's value. */
  readonly exact: FigureText
  readonly shown: string
}

/** If digits are left out, pointing at the figure shows them all. */
export function Figure({ exact, shown }: FigureProps) {
  const title = exact && digitsOf(exact) !== digitsOf(shown) ? exact : undefined
  return (
    <data value={exact ?? ''} title={title}>
      {shown}
    </data>
  )
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/gu, '')
}
