// How a node ends for good: it stops to take events, ships what its spool holds, and only then ends. Its processes may
// die meanwhile; what counts at the end is what the spool holds.

import type { Logger } from 'pino'
import type { ChildMessage } from './child.ts'
import type { ChildSlot } from './child-slot.ts'

export interface DrainOptions {
  /** How long the node goes on taking events after it says that it is not ready. */
  readonly noticeMs: number
  /** After so long in all the node ends, whatever is left. */
  readonly limitMs: number
  readonly slots: readonly ChildSlot[]
  readonly log: Pick<Logger, 'info'>
  /** Ends all processes that are left. */
  readonly end: () => void
}

/**
 * `notice`: not ready, so that load balancers send nothing more, and events are still taken. `closing`: the trackers
 * answer what came in and end. `shipping`: the engine ships until the spool is empty.
 */
type Phase = 'notice' | 'closing' | 'shipping'

export class Drain {
  readonly #options: DrainOptions
  readonly #timers: readonly NodeJS.Timeout[]
  #phase: Phase = 'notice'

  /** Begins at once. */
  constructor(options: DrainOptions) {
    this.#options = options
    const { noticeMs, limitMs, slots, log, end } = options
    log.info({ noticeMs, limitMs }, 'the node drains: it takes no events after the notice')
    for (const slot of slots) slot.send({ type: 'leaving' })
    this.#timers = [setTimeout(() => this.#closeTrackers(), noticeMs), setTimeout(end, limitMs)]
  }

  /** Called for every message of a child, after everything else that is to be done about it. */
  hear(slot: ChildSlot, message: ChildMessage): void {
    if (message.type === 'emptied') this.#options.end()
    if (message.type !== 'ready') return
    slot.send({ type: 'leaving' })
    if (slot.isEngine && this.#phase === 'shipping') slot.send({ type: 'empty' })
    if (!slot.isEngine && this.#phase !== 'notice') slot.end()
  }

  /** Called when a process has ended. True: it is not started again. */
  hearEnd(slot: ChildSlot): boolean {
    if (this.#phase === 'closing') this.#shipOnceClosed()
    return !slot.isEngine
  }

  /** The node ends. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #trackers(): readonly ChildSlot[] {
    return this.#options.slots.filter(({ isEngine }) => !isEngine)
  }

  #closeTrackers(): void {
    this.#phase = 'closing'
    for (const slot of this.#trackers()) slot.end()
    this.#shipOnceClosed()
  }

  #shipOnceClosed(): void {
    if (!this.#trackers().every(({ isEmpty }) => isEmpty)) return
    this.#phase = 'shipping'
    for (const slot of this.#options.slots) slot.send({ type: 'empty' })
  }
}
