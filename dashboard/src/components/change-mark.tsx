import type { ComponentChildren } from 'preact'
import { formatChange } from '../format.ts'

interface ChangeMarkProps {
  /** As a share of what was before. */
  readonly change: number
  /** Null where more is neither good nor bad. */
  readonly isGoodWhenMore?: boolean | null
  readonly children?: ComponentChildren
}

/** How much more or less a figure is than before. */
export function ChangeMark({ change, isGoodWhenMore = true, children }: ChangeMarkProps) {
  const isFlat = Math.abs(change) < 0.0005
  const tone =
    isFlat || isGoodWhenMore === null ? '' : change > 0 === isGoodWhenMore ? 'good' : 'bad'
  return (
    <span class={`change ${tone}`}>
      <span aria-hidden="true">{isFlat ? '→' : change > 0 ? '↑' : '↓'}</span> {formatChange(change)}
      {children}
    </span>
  )
}
