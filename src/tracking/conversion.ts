import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parseConversion } from '../contract/conversion.ts'
import { parseJsonBody } from '../contract/json.ts'
import { toConversionRecord } from '../spool/conversion-record.ts'
import { refusal, stored } from './answers.ts'
import type { Answer } from './answers.ts'
import { answerUnread, inflate, tooLarge } from './body.ts'
import type { BodyReader } from './body.ts'
import type { TrackingDeps } from './deps.ts'
import type { Failures } from './failures.ts'
import { sourceAddress } from '../access/source-address.ts'

type ConversionDeps = Pick<TrackingDeps, 'spool' | 'hashIdentity' | 'clock' | 'trustProxy'> & {
  readonly bodies: BodyReader
  readonly failures: Failures
}

/** Answers once; null when the sender has gone. */
type Reply = (answer: Answer | null) => void

const fromBrowser = refusal(400, [
  'Conversions must be sent by the backend of the publisher, not by a browser.',
])
const unknownEncoding = refusal(400, ['content-encoding must be gzip or identity'])
const notGzip = refusal(400, ['body must be valid gzip, as content-encoding says'])
const route = '/conversion'

/**
 * `POST /conversion`. A body that parses as JSON is taken whatever its content type: the interface
 * knows only 200 and 400 here, and says nothing about a missing or another type.
 */
export class ConversionHandler {
  readonly #deps: ConversionDeps

  constructor(deps: ConversionDeps) {
    this.#deps = deps
  }

  handle(request: IncomingMessage, reply: Reply): void {
    if (isFromBrowser(request.headers)) {
      this.#deps.bodies.skip(request, (body) => {
        reply(body.outcome === 'whole' ? fromBrowser : answerUnread(body))
      })
      return
    }
    this.#deps.bodies.read(request, (body) => {
      if (body.outcome === 'whole') this.#decode(request, body.bytes, reply)
      else reply(answerUnread(body))
    })
  }

  #decode(request: IncomingMessage, bytes: Buffer, reply: Reply): void {
    const encoding = request.headers['content-encoding']
    if (encoding === undefined) return this.#take(request, bytes, reply)
    switch (encoding.trim().toLowerCase()) {
      case '':
      case 'identity':
        return this.#take(request, bytes, reply)
      case 'gzip':
      case 'x-gzip':
        return inflate(bytes, (inflated) => {
          if (inflated.outcome === 'whole') this.#take(request, inflated.bytes, reply)
          else reply(inflated.outcome === 'too-large' ? tooLarge : notGzip)
        })
      default:
        return reply(unknownEncoding)
    }
  }

  #take(request: IncomingMessage, bytes: Buffer, reply: Reply): void {
    this.#deps.failures.guard(route, reply, () => this.#store(request, bytes, reply))
  }

  #store(request: IncomingMessage, bytes: Buffer, reply: Reply): void {
    const body = parseJsonBody(bytes)
    if (!body.ok) return reply(refusal(400, body.messages))
    const parsed = parseConversion(body.value)
    if (!parsed.ok) return reply(refusal(400, parsed.messages))

    const { hashIdentity, clock, trustProxy, spool } = this.#deps
    const record = toConversionRecord(parsed.conversion, {
      hashIdentity,
      receivedAtMs: clock(),
      sourceAddress: sourceAddress(request, trustProxy),
    })
    spool.append(record).then(
      () => reply(stored),
      (error: unknown) => reply(this.#deps.failures.answer(error, route))
    )
  }
}

/** `Sec-Fetch-Mode` alone does not mean a browser: Node's own `fetch` sends it. */
function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}
