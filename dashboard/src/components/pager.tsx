import { formatNumber } from '../format.ts'
import { pageSizes } from '../view.ts'

interface PagerProps {
  readonly page: number
  readonly pageSize: number
  readonly totalRows: number
  readonly onChange: (page: number, pageSize: number) => void
}

export function Pager({ page, pageSize, totalRows, onChange }: PagerProps) {
  const first = totalRows === 0 ? 0 : page * pageSize + 1
  const last = Math.min((page + 1) * pageSize, totalRows)
  return (
    <nav class="pager" aria-label="Pages of the table">
      <span aria-live="polite">
        {formatNumber(first)}–{formatNumber(last)} of {formatNumber(totalRows)} rows
      </span>
      <label>
        Rows{' '}
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
        Previous
      </button>
      <button
        type="button"
        disabled={last >= totalRows}
        onClick={() => onChange(page + 1, pageSize)}
      >
        Next
      </button>
    </nav>
  )
}
