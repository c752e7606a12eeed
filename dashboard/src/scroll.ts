// The reader comes back to where the page was left: the browser's own way gives up before the figures are there.
import { useEffect, useRef } from 'preact/hooks'

/** Pages are read anew, so that their height comes late; after this long the reader has moved on. */
const patienceMs = 5_000
/** The page before is still there for a moment, and may be as high. */
const holdMs = 400
const visitsMax = 100

interface Wanted {
  readonly top: number
  readonly sinceMs: number
}

interface VisitState {
  readonly visit?: number
}

/** The number of the current step of the browser's history, which it keeps with the step. */
function visitNow(): number | null {
  const state: VisitState | null = history.state
  return typeof state?.visit === 'number' ? state.visit : null
}

/** Goes to the top of a new page, and to where a page was left that is come back to. */
export function useScrollOfHistory(page: string): void {
  const wanted = useRef<Wanted | null>(null)
  useEffect(() => {
    history.scrollRestoration = 'manual'
    const places = new Map<number, number>()
    const note = () => {
      const visit = visitNow()
      if (wanted.current !== null || visit === null) return
      places.set(visit, scrollY)
      const [oldest] = places.keys()
      if (places.size > visitsMax && oldest !== undefined) places.delete(oldest)
    }
    const seek = () => {
      if (wanted.current === null) return
      const { top, sinceMs } = wanted.current
      const isThere = document.documentElement.scrollHeight - innerHeight >= top
      if (isThere && scrollY !== top) scrollTo(0, top)
      const heldMs = Date.now() - sinceMs
      if ((isThere && heldMs > holdMs) || heldMs > patienceMs) wanted.current = null
      else requestAnimationFrame(seek)
    }
    const arrive = () => {
      const visit = visitNow()
      if (visit === null) return history.replaceState({ visit: Date.now() }, '')
      wanted.current = { top: places.get(visit) ?? 0, sinceMs: Date.now() }
      requestAnimationFrame(seek)
    }
    const leave = () => {
      wanted.current = null
    }
    arrive()
    addEventListener('scroll', note, { passive: true })
    addEventListener('popstate', arrive)
    addEventListener('wheel', leave, { passive: true })
    addEventListener('touchstart', leave, { passive: true })
    return () => {
      removeEventListener('scroll', note)
      removeEventListener('popstate', arrive)
      removeEventListener('wheel', leave)
      removeEventListener('touchstart', leave)
    }
  }, [])
  useEffect(() => {
    if (wanted.current === null) scrollTo(0, 0)
  }, [page])
}
