// What time it is for the service. Computers whose clock is wrong would ask for days that nobody has counted.
import { useEffect, useState } from 'preact/hooks'

/** Days begin at a whole quarter of an hour in every time zone. */
const quarterMs = 15 * 60_000

/** The time of the service, which each of its answers says, goes on by the clock of the computer. */
export class ServiceClock {
  readonly #nowMs: () => number
  #aheadMs = 0

  /** The clock of the computer; also the time of the service until its first answer. */
  constructor(nowMs: () => number = () => Date.now()) {
    this.#nowMs = nowMs
  }

  /** Takes the `Date` of an answer that has just come: whole seconds, and late by its way. */
  hear(date: string | null): void {
    const atMs = Date.parse(date ?? '')
    if (!Number.isNaN(atMs)) this.#aheadMs = atMs - this.#nowMs()
  }

  now(): Date {
    return new Date(this.#nowMs() + this.#aheadMs)
  }
}

/** The time when the page is drawn. A page that was left open is drawn again when it is shown and a day may have begun. */
export function useNow(clock: ServiceClock): Date {
  const readQuarter = () => Math.floor(clock.now().getTime() / quarterMs)
  const [, setQuarter] = useState(readQuarter)
  useEffect(() => {
    const look = () => setQuarter(readQuarter())
    document.addEventListener('visibilitychange', look)
    addEventListener('focus', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      removeEventListener('focus', look)
    }
  }, [clock])
  return clock.now()
}
