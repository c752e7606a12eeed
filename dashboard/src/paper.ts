// A canvas is a picture: for paper it is drawn again, for the width and in the colours of paper.
import { useEffect } from 'preact/hooks'

/** Runs `redraw` before pages are made and afterwards, while the root says so to the style sheet. */
export function usePaper(redraw: () => void): void {
  useEffect(() => {
    const root = document.documentElement
    const begin = () => {
      root.dataset['printing'] = ''
      redraw()
    }
    const end = () => {
      delete root.dataset['printing']
      redraw()
    }
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
    }
  })
}
