// Equal questions that are asked at once are one statement. A question holds the key that asks, so no two keys
// ever share one.

import { ServiceError } from '../errors.ts'
import { untilAborted } from '../lib/until-aborted.ts'

interface Shared {
  readonly answer: Promise<unknown>
  readonly controller: AbortController
  askerCount: number
}

export class SharedQuestions {
  readonly #running = new Map<string, Shared>()

  /**
   * Joins the work that runs for the question, or begins it. Work under one question has one type of answer. It is
   * aborted when the last asker has left, who waits until it has ended, so that no place is given back before the
   * statement is over.
   */
  async ask<Answer>(
    { question, signal }: { readonly question: string; readonly signal: AbortSignal },
    work: (controller: AbortController) => Promise<Answer>
  ): Promise<Answer> {
    signal.throwIfAborted()
    const shared = this.#running.get(question) ?? this.#begin(question, work)
    shared.askerCount += 1
    const leave = () => this.#leave(question, shared)
    signal.addEventListener('abort', leave, { once: true })
    try {
      await untilAborted(shared.answer, signal)
      if (!shared.controller.signal.aborted) signal.throwIfAborted()
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return (await shared.answer) as Answer
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Ends all work. Resolves when it has ended. */
  async close(): Promise<void> {
    const all = [...this.#running.values()]
    for (const { controller } of all) controller.abort(notFinished())
    await Promise.allSettled(all.map(({ answer }) => answer))
  }

  #begin(question: string, work: (controller: AbortController) => Promise<unknown>): Shared {
    const controller = new AbortController()
    const shared: Shared = { answer: work(controller), controller, askerCount: 0 }
    this.#running.set(question, shared)
    const forget = () => this.#forget(question, shared)
    shared.answer.then(forget, forget)
    return shared
  }

  #leave(question: string, shared: Shared): void {
    shared.askerCount -= 1
    if (shared.askerCount > 0) return
    // Whoever asks from now on begins anew.
    this.#forget(question, shared)
    shared.controller.abort(notFinished())
  }

  #forget(question: string, shared: Shared): void {
    if (this.#running.get(question) === shared) this.#running.delete(question)
  }
}

/** The reason of an abort, for whoever still waits. */
export function notFinished(): ServiceError {
  return new ServiceError('WAREHOUSE_UNAVAILABLE', 'the result was not read to its end')
}
