import { refuse, type Answer } from '../http/handler.ts'
import { ServiceError, type ErrorCode } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { saysDiskFull } from '../warehouse/refusal.ts'
import type { CampaignDeps, CampaignLog } from './deps.ts'

interface Failed {
  readonly requestId: string
  /** The pattern, never the path. */
  readonly route: string
  /** Whether the caller has gone: then the failure is not worth a log line. */
  readonly isGone: () => boolean
}

const retryAfterSeconds = '5'
const logIntervalMs = 1_000
const diskFullText =
  'The disk is full, so the warehouse cannot store anything; make room, and try again.'

/** Turns whatever a request fails with into an answer that tells nothing of the inside. */
export class CampaignFailures {
  readonly #log: CampaignLog
  readonly #clock: Clock
  readonly #isDiskFull: () => boolean
  readonly #loggedAtMs = new Map<ErrorCode, number>()

  constructor({
    log,
    clock,
    isDiskFull = () => false,
  }: Pick<CampaignDeps, 'log' | 'clock' | 'isDiskFull'>) {
    this.#log = log
    this.#clock = clock
    this.#isDiskFull = isDiskFull
  }

  answer(error: unknown, failed: Failed): Answer {
    if (error instanceof ServiceError) return this.#answerKnown(error, failed)
    if (isClientsFault(error)) return refuse('HTTP_MALFORMED', ['The request is malformed.'])

    this.#write('error', error, failed)
    const id = failed.requestId
    const answer = refuse('SERVICE_FAILED', [
      `The service failed to answer; the failure is logged as ${id}.`,
    ])
    return { ...answer, headers: { 'x-request-id': id } }
  }

  #answerKnown(error: ServiceError, failed: Failed): Answer {
    const { refusal, level, publicText, retryable } = error.kind
    if (this.#isDue(error.code)) this.#write(level, error, failed)
    const answer = refuse(refusal, [
      this.#isForWantOfRoom(error, failed) ? diskFullText : publicText,
    ])
    return retryable ? { ...answer, headers: { 'retry-after': retryAfterSeconds } } : answer
  }

  /** Told to operators alone: nobody else can make room. */
  #isForWantOfRoom(error: ServiceError, { route }: Failed): boolean {
    if (error.code !== 'WAREHOUSE_UNAVAILABLE' || !route.startsWith('/admin/')) return false
    return saysDiskFull(error) || this.#isDiskFull()
  }

  /** An outage fails every request with the same code: one line a second says as much as all. */
  #isDue(code: ErrorCode): boolean {
    const nowMs = this.#clock()
    const loggedAtMs = this.#loggedAtMs.get(code) ?? -Infinity
    if (Math.abs(nowMs - loggedAtMs) < logIntervalMs) return false
    this.#loggedAtMs.set(code, nowMs)
    return true
  }

  #write(
    level: 'info' | 'warn' | 'error' | 'fatal',
    error: unknown,
    { requestId, route, isGone }: Failed
  ): void {
    if (isGone()) this.#log.debug({ requestId, route }, 'the caller has gone')
    else this.#log[level]({ requestId, route, err: error }, 'a request failed')
  }
}

/** Errors that the framework blames on the caller. */
function isClientsFault(error: unknown): boolean {
  if (!(error instanceof Error) || !('statusCode' in error)) return false
  const { statusCode } = error
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
}
