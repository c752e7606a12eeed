import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { sourceAddress } from '../http/source-address.ts'
import { parseJsonBody } from '../contract/json.ts'
import { liveFrom } from '../spool/record.ts'
import type { ConversionRecord, Origin, ReturnRecord, SpoolRecord } from '../spool/record.ts'
import { refusal, stored } from './answers.ts'
import type { Answer } from './answers.ts'
import { answerUnread, tooLarge } from './body.ts'
import type { BodyReader } from './body.ts'
import type { TrackingDeps } from './deps.ts'
import { busy } from './failures.ts'
import type { Failures } from './failures.ts'
import { store } from './store.ts'

/** What the backend of a publisher delivers at one path. */
export interface BackendRoute {
  readonly path: string
  /** To a browser, which must not deliver. */
  readonly refusalToBrowsers: string
  /** The body, parsed as JSON, as a record of the spool. */
  readonly parse: (body: unknown, receipt: Receipt) => ParsedRecord
}

export type Receipt = Pick<ConversionRecord | ReturnRecord, 'receivedAtMs' | 'origin'>

export type ParsedRecord =
  | { readonly ok: true; readonly record: SpoolRecord }
  | { readonly ok: false; readonly messages: readonly string[] }

type BackendDeps = Pick<TrackingDeps, 'spool' | 'clock' | 'trustProxy'> & {
  readonly bodies: BodyReader
  readonly failures: Failures
}

/** Answers once; null when the sender has gone. */
type Reply = (answer: Answer | null) => void

const unknownEncoding = refusal(400, ['content-encoding must be gzip or identity'], 'encoding')
const notGzip = refusal(400, ['body must be valid gzip, as content-encoding says'], 'encoding')
const unfitGzip = { 'too-large': tooLarge, 'not-gzip': notGzip, busy } as const

/**
 * `POST` of JSON from the backend of a publisher. A body that parses as JSON is taken whatever its
 * content type: the interface knows only 200 and 400 here, and says nothing about a missing or another
 * type.
 */
export class BackendHandler {
  readonly #deps: BackendDeps
  readonly #route: BackendRoute
  readonly #fromBrowser: Answer

  constructor(deps: BackendDeps, route: BackendRoute) {
    this.#deps = deps
    this.#route = route
    this.#fromBrowser = refusal(400, [route.refusalToBrowsers], 'from-browser')
  }

  handle(request: IncomingMessage, reply: Reply): void {
    if (isFromBrowser(request.headers)) {
      this.#deps.bodies.skip(request, (body) => {
        reply(body.outcome === 'whole' ? this.#fromBrowser : answerUnread(body))
      })
      return
    }
    // Now, not behind the body: who resets the connection meanwhile takes the address with it.
    const origin = liveFrom(sourceAddress(request, this.#deps.trustProxy))
    this.#deps.bodies.read(request, (body) => {
      const delivery = { headers: request.headers, origin, reply }
      if (body.outcome === 'whole') this.#decode(delivery, body.bytes)
      else reply(answerUnread(body))
    })
  }

  #decode(delivery: Delivery, bytes: Buffer): void {
    const { headers, reply } = delivery
    const encoding = headers['content-encoding']
    if (encoding === undefined) return this.#take(delivery, bytes)
    switch (encoding.trim().toLowerCase()) {
      case '':
      case 'identity':
        return this.#take(delivery, bytes)
      case 'gzip':
      case 'x-gzip':
        return this.#deps.bodies.inflate(bytes, (inflated) => {
          if (inflated.outcome === 'whole') this.#take(delivery, inflated.bytes)
          else reply(unfitGzip[inflated.outcome])
        })
      default:
        return reply(unknownEncoding)
    }
  }

  #take(delivery: Delivery, bytes: Buffer): void {
    const { failures } = this.#deps
    failures.guard(this.#route.path, delivery.reply, () => this.#store(delivery, bytes))
  }

  #store({ origin, reply }: Delivery, bytes: Buffer): void {
    const body = parseJsonBody(bytes)
    if (!body.ok) return reply(refusal(400, body.messages, 'body'))
    const { clock, spool, failures } = this.#deps
    const parsed = this.#route.parse(body.value, { receivedAtMs: clock(), origin })
    if (!parsed.ok) return reply(refusal(400, parsed.messages, 'body'))
    store(spool, parsed.record).then(
      () => reply(stored),
      (error: unknown) => reply(failures.answer(error, this.#route.path))
    )
  }
}

/** What is known of a delivery when its head is complete. */
interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly origin: Origin
  readonly reply: Reply
}

/** `Sec-Fetch-Mode` alone does not mean a browser: Node's own `fetch` sends it. */
function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}
