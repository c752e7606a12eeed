// The reader comes back to where the page was left: the browser's own way gives up before the figures are there.
import { useEffect, useRef } from 'preact/hooks'
import { parseAddress } from './router.ts'

/** Pages are read anew, so that their height comes late: as long as the service may take to answer. */
const patienceMs = 60_000
/** What is kept of the page may be replaced by a lower one for a moment. */
const holdMs = 400
/** Whoever does one of these has moved on, also before the page was high enough. */
const moves = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const
const visitsMax = 100

interface Wanted {
  readonly top: number
  readonly sinceMs: number
  /** When the page came back to was first drawn and high enough; null before. */
  readonly reachedMs: number | null
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
  const drawn = useRef(page)
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
    const leave = () => {
      wanted.current = null
    }
    const seek = () => {
      if (wanted.current === null) return
      const { top, sinceMs, reachedMs } = wanted.current
      // Until then the page before stands there, which may be as high.
      const isDrawn = drawn.current === parseAddress(location.hash).path.join('/')
      const isThere = isDrawn && document.documentElement.scrollHeight - innerHeight >= top
      if (isThere && scrollY !== top) scrollTo(0, top)
      const nowMs = Date.now()
      const isHeld = isThere && reachedMs !== null && nowMs - reachedMs > holdMs
      if (isHeld || nowMs - sinceMs > patienceMs) return leave()
      if (isThere && reachedMs === null) wanted.current = { top, sinceMs, reachedMs: nowMs }
      requestAnimationFrame(seek)
    }
    const arrive = () => {
      const visit = visitNow()
      if (visit === null) history.replaceState({ visit: Date.now() }, '')
      const top = visit === null ? undefined : places.get(visit)
      // Of a page that was loaded anew nothing is known. It may go to a place of its own at once.
      if (top === undefined) return leave()
      wanted.current = { top, sinceMs: Date.now(), reachedMs: null }
      requestAnimationFrame(seek)
    }
    arrive()
    addEventListener('scroll', note, { passive: true })
    addEventListener('popstate', arrive)
    for (const move of moves) addEventListener(move, leave, { passive: true })
    return () => {
      removeEventListener('scroll', note)
      removeEventListener('popstate', arrive)
      for (const move of moves) removeEventListener(move, leave)
    }
  }, [])
  useEffect(() => {
    drawn.current = page
    if (wanted.current === null) scrollTo(0, 0)
  }, [page])
}
