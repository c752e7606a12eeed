import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createCallerReader } from '../domain/caller.ts'
import type { Caller } from '../domain/caller.ts'
import { eventVerdict, leadsToLandingPage } from '../domain/windows.ts'
import type { AdEventKind } from '../domain/windows.ts'
import { sourceAddress } from '../http/source-address.ts'
import type { OpenedToken, TrackingData } from '../tracking-data/tracking-data.ts'
import { noContent, pixel, redirect, refusal, stored } from './answers.ts'
import type { Answer } from './answers.ts'
import { store } from './backend.ts'
import { answerUnread, hasBody } from './body.ts'
import type { BodyReader } from './body.ts'
import type { TrackingDeps } from './deps.ts'
import type { TrackingFailures } from './failures.ts'
import { RepeatCache } from './repeat-cache.ts'
import type { ReadEvent } from './repeat-cache.ts'

type AdEventDeps = Pick<
  TrackingDeps,
  'spool' | 'opener' | 'clock' | 'trustProxy' | 'dataCentreListOf'
> & {
  readonly bodies: BodyReader
  readonly failures: TrackingFailures
}

interface AdEvent {
  readonly request: IncomingMessage
  readonly kind: AdEventKind
  /** The path segment, decoded once. */
  readonly token: string
}

/** Answers once; null when the sender has gone. */
type Reply = (answer: Answer | null) => void

/** An ad event whose token is not opened yet. */
interface Waiting {
  readonly event: AdEvent
  /** See the record. */
  readonly dataCentreList: string | null
  readonly receivedAtMs: number
  readonly reply: Reply
}

export const limits = {
  /** Opened at once when so many wait: more in one go save nothing, and only make others wait. */
  waitingMax: 256,
} as const

export const linkMethods = 'GET, HEAD, POST, OPTIONS'
export const missingToken = refusal('missing-token', [
  'The tracking data is missing from the path.',
])
const notOurs = refusal('token', [
  'The tracking data is not the string that the ad server issued, or was manipulated.',
])
const userAgentLengthMax = 512
const patterns = {
  impression: '/impression/{trackingData}',
  click: '/click/{trackingData}',
  load: '/load/{trackingData}',
} as const

/**
 * POST, GET and HEAD on `/impression/{trackingData}`, `/click/…` and `/load/…`. Any body is read past:
 * beacons come with every content type.
 */
export class AdEventHandler {
  readonly #deps: AdEventDeps
  readonly #repeats: RepeatCache
  readonly #callerOf = createCallerReader()
  #waiting: Waiting[] = []

  constructor(deps: AdEventDeps) {
    this.#deps = deps
    this.#repeats = new RepeatCache(deps.clock)
  }

  handle(event: AdEvent, reply: Reply): void {
    // Read before the body: a connection that is reset meanwhile has no address any more.
    const dataCentreList = this.#dataCentreListOf(event.request)
    const come = { event, dataCentreList, reply }
    if (!hasBody(event.request.headers)) return this.#gather(come)
    this.#deps.bodies.skip(event.request, (body) => {
      if (body.outcome !== 'whole') return reply(answerUnread(body))
      this.#deps.failures.guard(patterns[event.kind], reply, () => this.#gather(come))
    })
  }

  /** The verdict of an event that is stored may be another one now. */
  forgetRepeats(): void {
    this.#repeats.forget()
  }

  #dataCentreListOf(request: IncomingMessage): string | null {
    const { dataCentreListOf, trustProxy } = this.#deps
    return dataCentreListOf?.(sourceAddress(request, trustProxy)) ?? null
  }

  /** Tokens of one turn of the event loop are opened together, which costs a fraction. */
  #gather(come: Omit<Waiting, 'receivedAtMs'>): void {
    const { event, dataCentreList, reply } = come
    this.#waiting.push({ event, dataCentreList, receivedAtMs: this.#deps.clock(), reply })
    if (this.#waiting.length >= limits.waitingMax) this.#openWaiting()
    else if (this.#waiting.length === 1) setImmediate(() => this.#openWaiting())
  }

  /** Never throws: each event has its own answer, whatever becomes of the others. */
  #openWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    const opened = this.#openTogether(waiting)
    for (const [index, one] of waiting.entries()) {
      this.#deps.failures.guard(patterns[one.event.kind], one.reply, () => {
        this.#take(one, opened[index] ?? this.#deps.opener.open(one.event.token))
      })
    }
  }

  /** Nothing when this fails, so that each is opened alone and only those answer for it that fail again. */
  #openTogether(waiting: readonly Waiting[]): readonly OpenedToken[] {
    try {
      return this.#deps.opener.openAll(waiting.map(({ event }) => event.token))
    } catch (error) {
      this.#deps.failures.report(error, 'none')
      return []
    }
  }

  #take(waiting: Waiting, opened: OpenedToken): void {
    const { event, receivedAtMs, reply } = waiting
    if (!opened.ok) return reply(notOurs)
    const answer = answerTo(event, opened.data, receivedAtMs)
    if (event.request.method === 'HEAD') return reply(answer)

    const record = toRecord(waiting, opened.canonical, this.#callerOf)
    const age = eventVerdict(record.kind, opened.data.servedAtMs, receivedAtMs)
    if (this.#repeats.has(record, age)) return reply(answer)
    store(this.#deps.spool, record).then(
      () => {
        // A repeat is known only once the first is on disk; one that comes before is stored too.
        this.#repeats.add(record, age)
        return reply(answer)
      },
      (error: unknown) => reply(this.#deps.failures.answer(error, patterns[event.kind]))
    )
  }
}

function answerTo({ request, kind }: AdEvent, data: TrackingData, nowMs: number): Answer {
  if (request.method === 'POST') return stored
  if (kind !== 'click') return pixel
  // Nothing of the request has a say in where it leads: neither query, Host nor Referer.
  if (data.landingUrl === '' || !leadsToLandingPage(data.servedAtMs, nowMs)) return noContent
  return redirect(data.landingUrl)
}

function toRecord(
  { event, receivedAtMs, dataCentreList }: Waiting,
  trackingData: string,
  callerOf: (userAgent: string) => Caller
): ReadEvent {
  const { headers } = event.request
  // Node reads header bytes as Latin-1, so there is no surrogate to cut in half, and no U+0000.
  const userAgent = (headers['user-agent'] ?? '').slice(0, userAgentLengthMax)
  const record = {
    type: 'ad-event' as const,
    kind: event.kind,
    receivedAtMs,
    trackingData,
    userAgent,
    isPrefetch: isPrefetch(headers),
    caller: callerOf(userAgent),
  }
  return dataCentreList === null ? record : { ...record, dataCentreList }
}

function isPrefetch(headers: IncomingHttpHeaders): boolean {
  return (
    saysPrefetch(headers['sec-purpose']) ||
    saysPrefetch(headers['purpose']) ||
    // Safari and the apps of Facebook.
    saysPrefetch(headers['x-purpose']) ||
    saysPrefetch(headers['x-moz'])
  )
}

function saysPrefetch(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false
  return /prefetch|prerender|preview/i.test(typeof header === 'string' ? header : header.join(','))
}
