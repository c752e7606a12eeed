// Sends answers. The few that nearly every request gets are kept ready as bytes and written in one piece, which
// takes a fifth of the CPU time of a request off: docs/decisions/0046-what-a-tracker-spends.md measures it. All
// others go the way of node:http.
import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import { noContent, pixel, send, stored, withHeaders, withTlsOnly } from './answers.ts'
import type { Answer } from './answers.ts'
import { withCors } from './cors.ts'

export const limits = {
  /** Kept answers, over all origins; others are written anew each time. One takes some 350 bytes. */
  keptMax: 1_000,
} as const

/** The pair to answer, and what the answer depends on besides. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Links answer any origin; nothing else does. */
  readonly hasCors: boolean
}

interface SenderOptions {
  readonly clock: Clock
  readonly isTls: boolean
  /** How long a connection may be idle, for the header that announces it. */
  readonly keepAliveMs: number
}

const nothing = Buffer.alloc(0)

export class Sender {
  readonly #options: SenderOptions
  /** By answer, then by origin; null where there is no CORS. */
  readonly #kept: ReadonlyMap<Answer, Map<string | null, Buffer>>
  readonly #keepAlive: string
  #keptCount = 0
  /** The date in all that is kept. */
  #keptSecond = NaN
  #lastLines = ''

  constructor(options: SenderOptions) {
    this.#options = options
    this.#keepAlive = `timeout=${Math.floor(options.keepAliveMs / 1_000)}`
    this.#kept = new Map([stored, pixel, noContent].map((answer) => [answer, new Map()]))
  }

  /** Never more than `keptMax`. */
  get keptCount(): number {
    return this.#keptCount
  }

  /** Does nothing if the client has gone or an answer is under way. */
  send(exchange: Exchange, answer: Answer): void {
    const { response } = exchange
    const bytes = takesWhole(exchange) ? this.#keptBytes(exchange, answer) : undefined
    if (bytes === undefined) return send(response, this.#withKeepAlive(exchange, answer))
    response.statusCode = answer.status
    this.#sendWhole(response, bytes)
  }

  /**
   * One write instead of the two of `end`, and no state in between. `finish` is the event by which node:http learns
   * that an answer has left: it lets go of the connection, begins the next answer, and closes what is to be closed.
   */
  #sendWhole(response: ServerResponse, bytes: Buffer): void {
    const { socket } = response
    if (socket === null) return
    const finish = (error?: Error | null): void => {
      if (!error && response.socket !== null) response.emit('finish')
    }
    // A write over TLS is never done at once.
    if (this.#options.isTls) return void socket.write(bytes, finish)
    socket.write(bytes)
    if (socket.writableLength === 0) finish()
    // The other side does not read, so what follows has to wait.
    else socket.write(nothing, finish)
  }

  /** Undefined for an answer that is not kept, and where too many are kept already. */
  #keptBytes(exchange: Exchange, answer: Answer): Buffer | undefined {
    const byOrigin = this.#kept.get(answer)
    if (byOrigin === undefined) return undefined
    const second = Math.floor(this.#options.clock() / 1_000)
    if (second !== this.#keptSecond) this.#begin(second)
    const origin = exchange.hasCors ? (exchange.request.headers.origin ?? '') : null
    const known = byOrigin.get(origin)
    if (known !== undefined || this.#keptCount >= limits.keptMax) return known
    this.#keptCount += 1
    const bytes = toBytes(this.#complete(exchange, answer), this.#lastLines)
    byOrigin.set(origin, bytes)
    return bytes
  }

  #begin(second: number): void {
    for (const byOrigin of this.#kept.values()) byOrigin.clear()
    this.#keptCount = 0
    this.#keptSecond = second
    this.#lastLines =
      `Date: ${new Date(second * 1_000).toUTCString()}\r\nConnection: keep-alive\r\n` +
      `Keep-Alive: ${this.#keepAlive}\r\n\r\n`
  }

  /** Unless the connection ends, and where HTTP/1.1 leaves it open by itself. */
  #withKeepAlive(exchange: Exchange, answer: Answer): Answer {
    const { request, response } = exchange
    const whole = this.#complete(exchange, answer)
    const ends = !response.shouldKeepAlive || whole.headers.includes('connection')
    if (ends || request.httpVersion !== '1.1') return whole
    return withHeaders(whole, ['Keep-Alive', this.#keepAlive])
  }

  #complete({ request, hasCors }: Exchange, answer: Answer): Answer {
    const whole = this.#options.isTls ? withTlsOnly(answer) : answer
    return hasCors ? withCors(whole, request.headers.origin) : whole
  }
}

/** Whether nothing asks for more than an answer with a body and then the next request. */
function takesWhole({ request, response }: Exchange): boolean {
  const { socket } = response
  return (
    socket !== null &&
    socket.writable &&
    socket.writableLength === 0 &&
    !response.headersSent &&
    response.shouldKeepAlive &&
    request.complete &&
    request.httpVersion === '1.1' &&
    request.method !== 'HEAD'
  )
}

/** The lines in the order of node:http. */
function toBytes({ status, headers, body }: Answer, lastLines: string): Buffer {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
  return Buffer.concat([Buffer.from(head + lastLines, 'latin1'), Buffer.from(body)])
}
