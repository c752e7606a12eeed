import type { Figure as FigureText } from '../format.ts'

interface FigureProps {
  /** As the service gave it; stays readable for programs in the element's value. */
  readonly exact: FigureText
  readonly shown: string
}

export function Figure({ exact, shown }: FigureProps) {
  return <data value={exact ?? ''}>{shown}</data>
}
