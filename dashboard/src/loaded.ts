import { useEffect, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { t } from './language.ts'

export type Loaded<T> =
  | {
      readonly state: 'loading'
      readonly previous: T | null
      /** The previous value answered the same question, a while ago. */
      readonly isKept?: boolean
    }
  | {
      readonly state: 'failed'
      readonly messages: readonly string[]
      /** The service answered that there is no such thing. */
      readonly isUnknown: boolean
      readonly retry: () => void
    }
  | { readonly state: 'ready'; readonly value: T; readonly refresh: () => void }

/** The value, or the previous one until the next one comes; null if there is none. */
export function latestOf<T>(loaded: Loaded<T>): T | null {
  if (loaded.state === 'failed') return null
  return loaded.state === 'ready' ? loaded.value : loaded.previous
}

interface Held<T> {
  readonly key: string
  readonly scope: string
  readonly value?: T
  readonly messages?: readonly string[]
  readonly isUnknown?: boolean
}

/**
 * Loads again whenever the key changes, and abandons the request before. The key must contain everything that
 * the answer depends on. A value stays visible until the next one comes, unless that is of another scope: figures of
 * other days would be read as those of the days that were chosen.
 */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  scope = ''
): Loaded<T> {
  const [held, setHeld] = useState<Held<T> | null>(null)
  const [attempt, setAttempt] = useState(0)
  const wanted = `${key} ${attempt}`
  useEffect(() => {
    const abort = new AbortController()
    const settle = (outcome: Omit<Held<T>, 'key' | 'scope'>) => {
      if (!abort.signal.aborted) setHeld({ key: wanted, scope, ...outcome })
    }
    void load(abort.signal).then(
      (value) => settle({ value }),
      (error: unknown) =>
        settle({
          messages: messagesOf(error),
          isUnknown: error instanceof ApiError && error.status === 404,
        })
    )
    return () => abort.abort()
  }, [wanted])

  const isFailed = held !== null && held.key === wanted && held.messages !== undefined
  // What failed for want of a network is asked again once there is one.
  useEffect(() => {
    if (!isFailed) return undefined
    const again = () => setAttempt((count) => count + 1)
    addEventListener('online', again)
    return () => removeEventListener('online', again)
  }, [isFailed])

  const retry = () => setAttempt((count) => count + 1)
  if (held === null || held.key !== wanted) {
    const previous = held?.scope === scope ? held.value : undefined
    return { state: 'loading', previous: previous ?? null }
  }
  if (isFailed) {
    const { messages = [], isUnknown = false } = held
    return { state: 'failed', messages, isUnknown, retry }
  }
  // Without messages it was put there with its value, which may itself be undefined.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { state: 'ready', value: held.value as T, refresh: retry }
}

export function messagesOf(error: unknown): readonly string[] {
  if (error instanceof ApiError) return error.messages
  // A page may have less patience than a call.
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return [t('The service has not answered in time.')]
  }
  return [t('Something in this page went wrong. Reloading it may help.')]
}
