// One of the lists of what does not count or does not fit: how much it holds, and its rows, folded if they are many.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatNumber } from '../format.ts'
import { t } from '../language.ts'
import type { Loaded } from '../loaded.ts'
import { Stages } from './notices.tsx'

/** More rows push the lists below out of sight. */
const unfoldedMax = 10

export interface RowCount {
  readonly count: number
  /** There are pages behind. */
  readonly isMore: boolean
}

export interface ListPlace {
  readonly id: string
  /** Whoever comes for this list sees its rows, however many they are. */
  readonly isAsked: boolean
  /** Null: it cannot be loaded. */
  readonly onCount: (count: RowCount | null) => void
}

/** Only the first page of a list of unknown length tells how much there is. */
export function countOfPage(
  after: string | null,
  rows: number,
  next: string | undefined
): RowCount | undefined {
  return after === null ? { count: rows, isMore: next !== undefined } : undefined
}

interface ListToLookAtProps<T> extends Pick<ListPlace, 'id' | 'onCount'> {
  readonly title: string
  readonly about: string
  /** The noun in "Loading the keys …". */
  readonly what: string
  readonly loaded: Loaded<T>
  /** Undefined where this value does not tell how many there are in all. */
  readonly countOf: (value: T) => RowCount | null | undefined
  /** Above the rows, and never folded. */
  readonly notice?: ComponentChildren
  readonly children: (value: T) => ComponentChildren
}

export function ListToLookAt<T>(props: ListToLookAtProps<T>) {
  const { id, onCount, title, about, what, loaded, countOf, notice, children } = props
  const count =
    loaded.state === 'failed' ? null : loaded.state === 'ready' ? countOf(loaded.value) : undefined
  useEffect(() => {
    if (count !== undefined) onCount(count)
  }, [count?.count, count?.isMore, loaded.state])
  return (
    <section id={id} class="card" aria-label={title} tabIndex={-1}>
      <h2>{title}</h2>
      <p class="muted">{about}</p>
      {notice}
      <Stages loaded={loaded} what={what}>
        {children}
      </Stages>
    </section>
  )
}

interface FoldedProps {
  readonly rows: number
  readonly isAsked: boolean
  readonly children: ComponentChildren
}

/** What is long when it comes stays behind its number until somebody opens it. */
export function Folded({ rows, isAsked, children }: FoldedProps) {
  const [isLong] = useState(rows > unfoldedMax)
  const [isOpen, setIsOpen] = useState(isAsked)
  if (!isLong) return <>{children}</>
  return (
    <details
      class="as-table"
      open={isAsked}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>{t('The list, {{rows}} rows', { rows: formatNumber(rows) })}</summary>
      {isOpen && <div class="stack">{children}</div>}
    </details>
  )
}
