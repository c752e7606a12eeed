import type { ComponentChildren } from 'preact'
import { t } from '../language.ts'
import { latestOf, type Loaded } from '../loaded.ts'

export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="notice loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {t('Loading {{what}} …', { what })}
    </p>
  )
}

interface FailureProps {
  readonly messages: readonly string[]
  readonly onRetry?: (() => void) | undefined
}

export function Failure({ messages, onRetry }: FailureProps) {
  return (
    <div class="notice failure" role="alert">
      <div>
        {messages.map((message) => (
          <p key={message}>{message}</p>
        ))}
      </div>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {t('Try again')}
        </button>
      )}
    </div>
  )
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="notice empty">{children}</div>
}

export function Warning({ children }: { readonly children: ComponentChildren }) {
  return <div class="notice warning">{children}</div>
}

interface StagesProps<T> {
  readonly loaded: Loaded<T>
  /** The noun in "Loading the keys …". */
  readonly what: string
  readonly children: (value: T) => ComponentChildren
}

/** Shows loading, failure or the answer. The previous answer stays, dimmed, until the next one comes. */
export function Stages<T>({ loaded, what, children }: StagesProps<T>) {
  if (loaded.state === 'failed') {
    if (loaded.isUnknown) return <Empty>{loaded.messages.join(' ')}</Empty>
    return <Failure messages={loaded.messages} onRetry={loaded.retry} />
  }
  const value = latestOf(loaded)
  if (value === null) return <Loading what={what} />
  const isStale = loaded.state === 'loading'
  return (
    <div class={isStale ? 'stale' : undefined} aria-busy={isStale}>
      {children(value)}
    </div>
  )
}
