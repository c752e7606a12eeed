import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createBotCheck } from '../domain/bot.ts'
import { adEventVerdict, leadsToLandingPage } from '../domain/windows.ts'
import type { AdEventKind } from '../domain/windows.ts'
import type { AdEventRecord } from '../spool/record.ts'
import type { OpenedToken, TrackingData } from '../tracking-data/tracking-data.ts'
import { noContent, pixel, redirect, refusal, stored } from './answers.ts'
import type { Answer } from './answers.ts'
import { store } from './backend.ts'
import { answerUnread, hasBody } from './body.ts'
import type { BodyReader } from './body.ts'
import type { TrackingDeps } from './deps.ts'
import type { TrackingFailures } from './failures.ts'
import { RepeatCache } from './repeat-cache.ts'

type AdEventDeps = Pick<TrackingDeps, 'spool' | 'opener' | 'clock'> & {
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
  readonly receivedAtMs: number
  readonly reply: Reply
}

export const limits = {
  /** Opened at once when so many wait: more in one go save nothing, and only make others wait. */
  waitingMax: 256,
} as const

export const linkMethods = 'GET, HEAD, POST, OPTIONS'
export const missingToken = refusal(
  404,
  ['The tracking data is missing from the path.'],
  'missing-token'
)
const notOurs = refusal(
  400,
  ['The tracking data is not the string that the ad server issued, or was manipulated.'],
  'token'
)
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
  readonly #isBot = createBotCheck()
  #waiting: Waiting[] = []

  constructor(deps: AdEventDeps) {
    this.#deps = deps
    this.#repeats = new RepeatCache(deps.clock)
  }

  handle(event: AdEvent, reply: Reply): void {
    if (!hasBody(event.request.headers)) return this.#gather(event, reply)
    this.#deps.bodies.skip(event.request, (body) => {
      if (body.outcome !== 'whole') return reply(answerUnread(body))
      this.#deps.failures.guard(patterns[event.kind], reply, () => this.#gather(event, reply))
    })
  }

  /** Tokens of one turn of the event loop are opened together, which costs a fraction. */
  #gather(event: AdEvent, reply: Reply): void {
    this.#waiting.push({ event, receivedAtMs: this.#deps.clock(), reply })
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

  #take({ event, receivedAtMs, reply }: Waiting, opened: OpenedToken): void {
    if (!opened.ok) return reply(notOurs)
    const answer = answerTo(event, opened.data, receivedAtMs)
    if (event.request.method === 'HEAD') return reply(answer)

    const record = toRecord(event, {
      trackingData: opened.canonical,
      receivedAtMs,
      isBot: this.#isBot,
    })
    const verdict = adEventVerdict(record, opened.data.servedAtMs)
    if (this.#repeats.has(record, verdict)) return reply(answer)
    store(this.#deps.spool, record).then(
      () => {
        // A repeat is known only once the first is on disk; one that comes before is stored too.
        this.#repeats.add(record, verdict)
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
  { kind, request: { headers } }: AdEvent,
  parts: {
    readonly trackingData: string
    readonly receivedAtMs: number
    readonly isBot: (userAgent: string) => boolean
  }
): AdEventRecord & { readonly isBot: boolean } {
  // Node reads header bytes as Latin-1, so there is no surrogate to cut in half, and no U+0000.
  const userAgent = (headers['user-agent'] ?? '').slice(0, userAgentLengthMax)
  return {
    type: 'ad-event',
    kind,
    receivedAtMs: parts.receivedAtMs,
    trackingData: parts.trackingData,
    userAgent,
    isPrefetch: isPrefetch(headers),
    isBot: parts.isBot(userAgent),
  }
}

function isPrefetch(headers: IncomingHttpHeaders): boolean {
  return (
    saysPrefetch(headers['sec-purpose']) ||
    saysPrefetch(headers['purpose']) ||
    saysPrefetch(headers['x-moz'])
  )
}

function saysPrefetch(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false
  return /prefetch|prerender/i.test(typeof header === 'string' ? header : header.join(','))
}
