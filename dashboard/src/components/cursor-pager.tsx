interface CursorPagerProps {
  /** As in "Pages of the records". */
  readonly what: string
  /** Null: the first page is shown. */
  readonly after: string | null
  /** Absent on the last page. */
  readonly next: string | undefined
  readonly onChange: (after: string | null) => void
}

/** Pages of a list that is as long as it is: there is a next one or none. */
export function CursorPager({ what, after, next, onChange }: CursorPagerProps) {
  if (after === null && next === undefined) return null
  return (
    <nav class="pager" aria-label={`Pages of the ${what}`}>
      <button type="button" disabled={after === null} onClick={() => onChange(null)}>
        First page
      </button>
      <button
        type="button"
        disabled={next === undefined}
        onClick={() => next !== undefined && onChange(next)}
      >
        Next page
      </button>
    </nav>
  )
}
