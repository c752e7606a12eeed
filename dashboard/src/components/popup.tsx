// A part of the page that is shown by a press: closed by Escape, by a press elsewhere, and by moving on.
import type { ComponentChildren, TargetedFocusEvent, TargetedKeyboardEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface PopupProps {
  readonly class?: string
  readonly summary: ComponentChildren
  readonly onToggle?: (isOpen: boolean) => void
  readonly children: ComponentChildren
}

export function Popup({ class: name = '', summary, onToggle, children }: PopupProps) {
  const details = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const closeOutside = ({ target }: PointerEvent) => {
      const own = details.current
      if (own !== null && target instanceof Node && !own.contains(target)) own.open = false
    }
    addEventListener('pointerdown', closeOutside)
    return () => removeEventListener('pointerdown', closeOutside)
  }, [])
  return (
    // Keys and focus of what is inside come up to it; it is not operated itself.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <details
      ref={details}
      class={`picker ${name}`}
      onKeyDown={closeOnEscape}
      onFocusOut={closeOnLeaving}
      onToggle={({ currentTarget }) => onToggle?.(currentTarget.open)}
    >
      <summary>{summary}</summary>
      {children}
    </details>
  )
}

function closeOnEscape(event: TargetedKeyboardEvent<HTMLDetailsElement>): void {
  if (event.key !== 'Escape') return
  event.currentTarget.open = false
  event.currentTarget.querySelector('summary')?.focus()
}

function closeOnLeaving(event: TargetedFocusEvent<HTMLDetailsElement>): void {
  const to = event.relatedTarget
  if (to instanceof Node && !event.currentTarget.contains(to)) event.currentTarget.open = false
}
