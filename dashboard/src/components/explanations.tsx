// Shows the sentence of a term beside it: where a mouse rests, where the focus comes by keyboard, and where a finger taps.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t, translate } from '../language.ts'
import { addressOf, parseAddress } from '../router.ts'
import type { Term } from '../../terms.ts'
import { descriptionOf, termOf } from './term.tsx'

/** Before a sentence comes and goes, so that a mouse can pass over words, and reach the link. */
const restMs = 250
const gap = 6

/** Empty until they are there. They come after the page, which is whole without them. */
export function useTerms(): readonly Term[] {
  const [terms, setTerms] = useState<readonly Term[]>([])
  useEffect(() => {
    import('../../../docs/GLOSSARY.md?terms')
      .then(({ default: known }) => setTerms(known))
      .catch(() => {
        // Headings stay unexplained until the page is loaded again.
      })
  }, [])
  return terms
}

interface Explained {
  readonly term: string
  readonly element: HTMLElement
}

export function Explanations() {
  const terms = useTerms()
  const tip = useRef<HTMLDivElement>(null)
  const explained = useExplained(tip)
  const found = terms.find(({ keys }) => explained !== null && keys.includes(explained.term))
  useLayoutEffect(() => {
    const box = tip.current
    // Firefox 120 to 124 do not have it; screen readers read the sentence all the same.
    if (box === null || !('showPopover' in box)) return undefined
    const isOpen = box.matches(':popover-open')
    if (explained === null || found === undefined) {
      if (isOpen) box.hidePopover()
      return undefined
    }
    const { element } = explained
    if (!isOpen) box.showPopover()
    const follow = () => place(box, element)
    const step = (event: KeyboardEvent) => stepThrough(box, element, event)
    follow()
    document.addEventListener('keydown', step)
    addEventListener('scroll', follow, { capture: true, passive: true })
    addEventListener('resize', follow)
    return () => {
      document.removeEventListener('keydown', step)
      removeEventListener('scroll', follow, { capture: true })
      removeEventListener('resize', follow)
    }
  }, [explained, found])
  return (
    <>
      <div hidden>
        {terms.flatMap(({ keys, sentence }) =>
          keys.map((key) => (
            <p key={key} id={descriptionOf(key)}>
              {translate(sentence)}
            </p>
          ))
        )}
      </div>
      <div ref={tip} class="tip" popover="manual">
        {explained !== null && found !== undefined && (
          <>
            <p>{translate(found.sentence)}</p>
            <a href={addressOf(['help'], new URLSearchParams({ term: explained.term }))}>
              {t('All terms')}
            </a>
          </>
        )}
      </div>
    </>
  )
}

/** What the reader is at, among all that has a term. */
function useExplained(tip: { readonly current: HTMLElement | null }): Explained | null {
  const [explained, setExplained] = useState<Explained | null>(null)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const explain = (next: Explained | null, afterMs = 0) => {
      clearTimeout(timer)
      if (afterMs === 0) setExplained(next)
      else timer = setTimeout(() => setExplained(next), afterMs)
    }
    const isInside = (target: EventTarget | null) =>
      target instanceof Node && tip.current?.contains(target) === true
    const ended = new AbortController()
    const { signal } = ended
    const over = ({ target, pointerType }: PointerEvent) => {
      if (pointerType === 'touch') return
      if (isInside(target)) clearTimeout(timer)
      else explain(wordsAt(target), restMs)
    }
    const focus = ({ target }: FocusEvent) => {
      if (isInside(target)) clearTimeout(timer)
      else if (target instanceof HTMLElement && target.matches(':focus-visible')) {
        const term = termOf(target)
        explain(term === null ? null : { term, element: target })
      }
    }
    // Clicks do not tell it in every browser.
    let isTouch = false
    const press = ({ target, pointerType }: PointerEvent) => {
      isTouch = pointerType === 'touch'
      if (!isInside(target)) explain(null)
    }
    const click = ({ target }: MouseEvent) => {
      const words = wordsAt(target)
      if (words !== null && (isTouch || words.element.closest('button.term') !== null)) {
        explain(words)
      }
    }
    // A tap that also draws or sorts changes the address, and leaves the reader at the words.
    let page = pageNow()
    const leave = () => {
      if (page !== pageNow()) explain(null)
      page = pageNow()
    }
    const escape = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') explain(null)
    }
    document.addEventListener('pointerover', over, { signal })
    document.addEventListener('focusin', focus, { signal })
    document.addEventListener('pointerdown', press, { signal })
    document.addEventListener('click', click, { signal })
    document.addEventListener('keydown', escape, { signal })
    addEventListener('hashchange', leave, { signal })
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [tip])
  return explained
}

function pageNow(): string {
  return parseAddress(location.hash).path.join('/')
}

/** A control around counts as well, if it is for nothing else. */
function wordsAt(target: EventTarget | null): Explained | null {
  if (!(target instanceof Element)) return null
  const own = target.closest<HTMLElement>('[data-term]')
  const words = own ?? target.closest('button.term')?.querySelector<HTMLElement>('[data-term]')
  const term = words?.dataset['term']
  return words === null || words === undefined || term === undefined
    ? null
    : { term, element: words }
}

/** The tabulator leads from the control to the link, which stands at the end of the page, and on from the control. */
function stepThrough(box: HTMLElement, control: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return
  if (document.activeElement === control && !event.shiftKey) {
    event.preventDefault()
    box.querySelector('a')?.focus()
  } else if (box.contains(document.activeElement)) {
    if (event.shiftKey) event.preventDefault()
    control.focus()
  }
}

/** Below the words, or above where there is no room, and always on the screen. */
function place(box: HTMLElement, element: HTMLElement): void {
  const { left, top, bottom } = element.getBoundingClientRect()
  const { width, height } = box.getBoundingClientRect()
  const below = bottom + gap
  const y = below + height > innerHeight ? top - gap - height : below
  box.style.left = `${Math.max(gap, Math.min(left, document.documentElement.clientWidth - width - gap))}px`
  box.style.top = `${Math.max(gap, y)}px`
}
