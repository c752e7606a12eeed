import type { Figure as FigureText } from '../format.ts'

interface FigureProps {
  /** The text that the service gave. Programs can read it from the element's value. */
  readonly exact: FigureText
  readonly shown: string
}

/** If digits are left out, pointing at the figure shows them all. */
export function Figure({ exact, shown }: FigureProps) {
  return (
    <data value={exact ?? ''} title={leftOut(exact, shown)}>
      {shown}
    </data>
  )
}

/** The whole figure, if some of its digits are not shown. */
export function leftOut(exact: FigureText, shown: string): string | undefined {
  return exact && digitsOf(exact) !== digitsOf(shown) ? exact : undefined
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/gu, '')
}
