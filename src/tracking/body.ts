import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { gunzip } from 'node:zlib'
import type { Connections } from '../http/connections.ts'
import { refusal, withHeaders } from './answers.ts'
import type { Answer } from './answers.ts'
import { busy } from './failures.ts'

export const limits = {
  /** The limit of a body, as sent and inflated. */
  bodyBytesMax: 1_048_576,
  /** Bytes beyond that which are read and dropped, so that a reset does not lose the answer. */
  discardBytesMax: 16_777_216,
  /** The limit of all bodies together, inflated or not; without it 10,000 slow senders could hold 10 GB. */
  bufferedBytesMax: 67_108_864,
  /** The limit of all bodies from one network, so that it cannot keep others out. */
  networkBytesMax: 16_777_216,
  /** zlib has four threads, which inflate one body each; more would wait inside zlib, uncounted. */
  inflationsMax: 4,
} as const

type BodyOutcome = { readonly outcome: 'whole'; readonly bytes: Buffer } | UnreadBody

type UnreadBody =
  | { readonly outcome: 'too-large'; readonly isEnded: boolean }
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'gone' }

type Done = (body: BodyOutcome) => void
type Reserve = (bytes: number) => boolean

const nothing = Buffer.alloc(0)

export const tooLarge = refusal('too-large', [
  'The body must be at most 1 MiB, also when inflated.',
])
const tooLargeToReadOn = withHeaders(tooLarge, ['connection', 'close'])

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** A body that is too long even to be read and dropped is answered at once, and the connection ends. */
export function refuseDeclaredLength(headers: IncomingHttpHeaders): Answer | undefined {
  const isTooLong = Number(headers['content-length'] ?? 0) > limits.discardBytesMax
  return isTooLong ? tooLargeToReadOn : undefined
}

/** The answer to a body that was not read whole; null when the sender has gone. */
export function answerUnread(body: UnreadBody): Answer | null {
  switch (body.outcome) {
    case 'too-large':
      return body.isEnded ? tooLarge : tooLargeToReadOn
    case 'busy':
      return busy
    case 'gone':
      return null
  }
}

/** The most that inflating takes: the pieces, and the whole made of them. */
const inflationBytesMax = 2 * limits.bodyBytesMax

/** Reads bodies, bounded each and all together. `done` is called once, after the last byte. */
export class BodyReader {
  readonly #connections: Pick<Connections, 'networkOf'>
  /** Begins with what inflating may take, so that inflating never waits for slow senders. */
  #bufferedBytes = limits.inflationsMax * inflationBytesMax
  readonly #networkBytes = new Map<string, number>()
  readonly #waiting = new WeakMap<IncomingMessage, ServerResponse>()
  #inflationCount = 0
  readonly #inflationsWaiting: (() => void)[] = []

  constructor(connections: Pick<Connections, 'networkOf'>) {
    this.#connections = connections
  }

  /** The sender of this request waits for `100 Continue`, which it gets once its body is wanted. */
  noteWaiting(request: IncomingMessage, response: ServerResponse): void {
    this.#waiting.set(request, response)
  }

  /** Hands over the bytes. */
  read(request: IncomingMessage, done: Done): void {
    if (!this.#askFor(request)) return done({ outcome: 'too-large', isEnded: false })
    const network = this.#connections.networkOf(request.socket)
    new Reading(done, (bytes) => this.#reserve(bytes, network)).start(request)
  }

  /** Inflates a gzip body that was read whole, within the bound of a plain one. */
  inflate(bytes: Buffer, done: (inflated: Inflated) => void): void {
    if (this.#inflationCount < limits.inflationsMax) return this.#inflate(bytes, done)
    // Bodies that wait are counted too, and refused if there are too many.
    if (!this.#reserve(bytes.length, null)) return done({ outcome: 'busy' })
    this.#inflationsWaiting.push(() => {
      this.#reserve(-bytes.length, null)
      this.#inflate(bytes, done)
    })
  }

  #inflate(bytes: Buffer, done: (inflated: Inflated) => void): void {
    this.#inflationCount += 1
    gunzip(bytes, { maxOutputLength: limits.bodyBytesMax }, (error, inflated) => {
      this.#inflationCount -= 1
      this.#inflationsWaiting.shift()?.()
      if (error === null) return done({ outcome: 'whole', bytes: inflated })
      const isTooLarge = 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
      done({ outcome: isTooLarge ? 'too-large' : 'not-gzip' })
    })
  }

  /** Reads and drops the body: the links ignore it, but no sender may stream for ever. */
  skip(request: IncomingMessage, done: Done): void {
    if (!this.#askFor(request)) return done({ outcome: 'too-large', isEnded: false })
    new Reading(done, null).start(request)
  }

  /** False if the sender waits with a body that is too large, so that it need not be sent to be refused. */
  #askFor(request: IncomingMessage): boolean {
    if (request.headers.expect === undefined) return true
    const response = this.#waiting.get(request)
    if (response === undefined) return true
    if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytesMax) return false
    response.writeContinue()
    return true
  }

  #reserve(bytes: number, network: string | null): boolean {
    if (this.#bufferedBytes + bytes > limits.bufferedBytesMax) return false
    if (network !== null) {
      const networkBytes = (this.#networkBytes.get(network) ?? 0) + bytes
      if (networkBytes > limits.networkBytesMax) return false
      if (networkBytes > 0) this.#networkBytes.set(network, networkBytes)
      else this.#networkBytes.delete(network)
    }
    this.#bufferedBytes += bytes
    return true
  }
}

class Reading {
  readonly #done: Done
  /** Null if the bytes are not wanted. A negative number gives back what was taken. */
  readonly #reserve: Reserve | null
  #chunks: Buffer[] = []
  #bytes = 0
  #reservedBytes = 0
  #isBusy = false
  #isDone = false

  constructor(done: Done, reserve: Reserve | null) {
    this.#done = done
    this.#reserve = reserve
  }

  /** Separate from the constructor, so that no callback runs inside it. */
  start(request: IncomingMessage): void {
    request.on('data', (chunk: Buffer) => this.#take(chunk))
    request.on('end', () => this.#end())
    request.on('close', () => this.#finish({ outcome: 'gone' }))
    request.on('error', ignoreAborted)
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > limits.discardBytesMax) {
      this.#finish({ outcome: 'too-large', isEnded: false })
      return
    }
    if (this.#reserve === null || this.#isBusy) return
    if (this.#bytes > limits.bodyBytesMax) {
      this.#release()
      return
    }
    if (!this.#reserve(chunk.length)) {
      this.#isBusy = true
      this.#release()
      return
    }
    this.#reservedBytes += chunk.length
    this.#chunks.push(chunk)
  }

  #end(): void {
    if (this.#bytes > limits.bodyBytesMax)
      return this.#finish({ outcome: 'too-large', isEnded: true })
    if (this.#isBusy) return this.#finish({ outcome: 'busy' })
    const [first = nothing] = this.#chunks
    const bytes = this.#chunks.length > 1 ? Buffer.concat(this.#chunks, this.#bytes) : first
    this.#finish({ outcome: 'whole', bytes })
  }

  #finish(body: BodyOutcome): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#release()
    this.#done(body)
  }

  #release(): void {
    this.#chunks = []
    if (this.#reservedBytes > 0) this.#reserve?.(-this.#reservedBytes)
    this.#reservedBytes = 0
  }
}

/** A sender that goes away in mid-body also closes the request, and that is handled. */
function ignoreAborted(): void {}

type Inflated =
  | { readonly outcome: 'whole'; readonly bytes: Buffer }
  | { readonly outcome: 'too-large' | 'not-gzip' | 'busy' }
