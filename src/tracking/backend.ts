import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { sourceAddress } from '../http/source-address.ts'
import { parseConversion } from '../contract/conversion.ts'
import { parseJsonBody } from '../contract/json.ts'
import { parseReturn } from '../contract/return.ts'
import type { IdentityHasher } from '../domain/identity.ts'
import { isReceiptInstant } from '../domain/windows.ts'
import { ServiceError } from '../errors.ts'
import { liveFrom, toConversionRecord, toReturnRecord } from '../spool/record.ts'
import type { Receipt, SpoolRecord } from '../spool/record.ts'
import type { Spool } from '../spool/spool.ts'
import { refusal, stored } from './answers.ts'
import type { Answer } from './answers.ts'
import { answerUnread, tooLarge } from './body.ts'
import type { BodyReader } from './body.ts'
import type { TrackingDeps } from './deps.ts'
import { busy } from './failures.ts'
import type { TrackingFailures } from './failures.ts'
import { presentedKey } from './presented-key.ts'

/** What the backend of a publisher delivers at one path. */
interface BackendRoute {
  readonly path: string
  /** The answer to a browser, which must not deliver. */
  readonly refusalToBrowsers: string
  /** Turns the body, parsed as JSON, into a record of the spool. */
  readonly parse: (body: unknown, receipt: Receipt) => ParsedRecord
}

type ParsedRecord =
  | { readonly ok: true; readonly record: SpoolRecord }
  | { readonly ok: false; readonly messages: readonly string[] }

export function conversionRoute(hashIdentity: IdentityHasher): BackendRoute {
  return {
    path: '/conversion',
    refusalToBrowsers:
      'Conversions must be sent by the backend of the publisher, not by a browser.',
    parse: (body, receipt) => {
      const parsed = parseConversion(body)
      if (!parsed.ok) return parsed
      return {
        ok: true,
        record: toConversionRecord(parsed.value, { ...receipt, hashIdentity }),
      }
    },
  }
}

export const returnRoute: BackendRoute = {
  path: '/return',
  refusalToBrowsers: 'Returns must be sent by the backend of the publisher, not by a browser.',
  parse: (body, receipt) => {
    const parsed = parseReturn(body)
    return parsed.ok ? { ok: true, record: toReturnRecord(parsed.value, receipt) } : parsed
  },
}

/**
 * Resolves when the record is on disk. A receipt from a clock that was never set would move the event
 * to a day that nobody reports, so it is not acknowledged: the sender repeats it.
 */
export function store(spool: Pick<Spool, 'append'>, record: SpoolRecord): Promise<void> {
  if (isReceiptInstant(record.receivedAtMs)) return spool.append(record)
  const reason = 'the clock of this node is not between 2020 and 2100'
  return Promise.reject(new ServiceError('CLOCK_UNSET', reason))
}

type BackendDeps = Pick<TrackingDeps, 'spool' | 'clock' | 'trustProxy'> & {
  readonly bodies: BodyReader
  readonly failures: TrackingFailures
}

/** Answers once; null when the sender has gone. */
type Reply = (answer: Answer | null) => void

const unknownEncoding = refusal('encoding', ['content-encoding must be gzip or identity'])
const notGzip = refusal('encoding', ['body must be valid gzip, as content-encoding says'])
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
    this.#fromBrowser = refusal('from-browser', [route.refusalToBrowsers])
  }

  handle(request: IncomingMessage, reply: Reply): void {
    if (isFromBrowser(request.headers)) {
      this.#deps.bodies.skip(request, (body) => {
        reply(body.outcome === 'whole' ? this.#fromBrowser : answerUnread(body))
      })
      return
    }
    // Read before the body: a connection that is reset meanwhile has no address any more.
    const sender = {
      origin: liveFrom(sourceAddress(request, this.#deps.trustProxy)),
      presentedKey: presentedKey(request),
    }
    this.#deps.bodies.read(request, (body) => {
      const delivery = { headers: request.headers, sender, reply }
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

  #store({ sender, reply }: Delivery, bytes: Buffer): void {
    const body = parseJsonBody(bytes)
    if (!body.ok) return reply(refusal('body', body.messages))
    const { clock, spool, failures } = this.#deps
    const parsed = this.#route.parse(body.value, { receivedAtMs: clock(), ...sender })
    if (!parsed.ok) return reply(refusal('body', parsed.messages))
    store(spool, parsed.record).then(
      () => reply(stored),
      (error: unknown) => reply(failures.answer(error, this.#route.path))
    )
  }
}

/** What is known about a delivery when its head is complete. */
interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly sender: Omit<Receipt, 'receivedAtMs'>
  readonly reply: Reply
}

/** `Sec-Fetch-Mode` alone does not mean a browser: Node's own `fetch` sends it. */
function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}
