import { t } from '../language.ts'

interface CursorPagerProps {
  readonly label: string
  /** Null if the first page is shown. */
  readonly after: string | null
  /** Absent on the last page. */
  readonly next: string | undefined
  readonly onChange: (after: string | null) => void
}

/** The pager of a list of unknown length: there is a next page or not. */
export function CursorPager({ label, after, next, onChange }: CursorPagerProps) {
  if (after === null && next === undefined) return null
  return (
    <>
      <p class="print-only">{t('A part of the rows: there are more on other pages.')}</p>
      <nav class="pager" aria-label={label}>
        <button type="button" disabled={after === null} onClick={() => onChange(null)}>
          {t('First page')}
        </button>
        <button
          type="button"
          disabled={next === undefined}
          onClick={() => next !== undefined && onChange(next)}
        >
          {t('Next page')}
        </button>
      </nav>
    </>
  )
}
