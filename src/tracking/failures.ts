import { ServiceError, errorKinds } from '../errors.ts'
import { refusal, withHeaders } from './answers.ts'
import type { Answer, RefusalReason } from './answers.ts'
import type { TrackingDeps } from './deps.ts'

/** Long enough to let a spool drain, short enough that a sender's queue stays small. */
const retryAfter: readonly string[] = ['retry-after', '5']
const logIntervalMs = 1_000

export function unavailable(message: string, reason: RefusalReason): Answer {
  return withHeaders(refusal(reason, [message]), retryAfter)
}

export const busy = unavailable('The service is busy; try again in a moment.', 'busy')

/** Turns what the spool rejects with into an answer, and says so in the log, once a second. */
export class TrackingFailures {
  readonly #deps: Pick<TrackingDeps, 'log' | 'clock'>
  #loggedAtMs = -Infinity
  #unloggedCount = 0

  constructor(deps: Pick<TrackingDeps, 'log' | 'clock'>) {
    this.#deps = deps
  }

  /** Runs what answers; whatever it throws is answered too, as a fault of ours. */
  guard(route: string, reply: (answer: Answer) => void, run: () => void): void {
    try {
      run()
    } catch (error) {
      reply(this.answer(error, route))
    }
  }

  answer(error: unknown, route: string): Answer {
    this.report(error, route)
    if (!(error instanceof ServiceError)) {
      return refusal('failure', [errorKinds.WAREHOUSE_REFUSED.publicText])
    }
    const { status, publicText } = error.kind
    return status === 503 ? unavailable(publicText, error.code) : refusal(error.code, [publicText])
  }

  /** A full disk fails every request: one line per request would fill what is left of it. */
  report(error: unknown, route: string): void {
    const nowMs = this.#deps.clock()
    this.#unloggedCount += 1
    if (Math.abs(nowMs - this.#loggedAtMs) < logIntervalMs) return
    const fields = { route, failures: this.#unloggedCount, err: error }
    this.#deps.log.error(fields, 'a request failed')
    this.#loggedAtMs = nowMs
    this.#unloggedCount = 0
  }
}
