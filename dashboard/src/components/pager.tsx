import { pageMax, pageSizes } from '../view.ts'
import { t } from '../language.ts'

interface PagerProps {
  readonly page: number
  readonly pageSize: number
  readonly totalRows: number
  readonly onChange: (page: number, pageSize: number) => void
}

export function Pager({ page, pageSize, totalRows, onChange }: PagerProps) {
  const first = totalRows === 0 ? 0 : page * pageSize + 1
  const last = Math.min((page + 1) * pageSize, totalRows)
  const shown = t('{{first}}–{{last}} of {{total}} rows', { first, last, total: totalRows })
  return (
    <>
      {/* There is nothing to press on paper, but rows that are missing there must be told. */}
      {last - first + 1 < totalRows && <p class="print-only">{shown}</p>}
      <nav class="pager" aria-label={t('Pages of the table')}>
        <span aria-live="polite">{shown}</span>
        <label>
          {t('Rows')}{' '}
          <select
            value={String(pageSize)}
            onChange={(event) => onChange(0, Number(event.currentTarget.value))}
          >
            {pageSizes.map((size) => (
              <option key={size} value={String(size)}>
                {size}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={page === 0} onClick={() => onChange(page - 1, pageSize)}>
          {t('Previous')}
        </button>
        <button
          type="button"
          disabled={last >= totalRows || page >= pageMax}
          onClick={() => onChange(page + 1, pageSize)}
        >
          {t('Next')}
        </button>
        {page >= pageMax && last < totalRows && (
          <p class="muted" role="status">
            {t(
              'There are no pages behind this one. More rows are on larger pages, in another order, and in the CSV.'
            )}
          </p>
        )}
      </nav>
    </>
  )
}
