import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { gunzip } from 'node:zlib'
import { refusal, withHeaders } from './answers.ts'
import type { Answer } from './answers.ts'
import { busy } from './failures.ts'

export const limits = {
  /** Of a body, and again of what it inflates to. */
  bodyBytesMax: 1_048_576,
  /** What is read on beyond that, so that a polite answer is not lost to a reset connection. */
  discardBytesMax: 16_777_216,
  /** All bodies being read at once; without it 10,000 slow senders could hold 10 GB. */
  bufferedBytesMax: 67_108_864,
} as const

type BodyOutcome = { readonly outcome: 'whole'; readonly bytes: Buffer } | UnreadBody

type UnreadBody =
  | { readonly outcome: 'too-large'; readonly isEnded: boolean }
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'gone' }

type Done = (body: BodyOutcome) => void
type Reserve = (bytes: number) => boolean

const nothing = Buffer.alloc(0)

export const tooLarge = refusal(
  413,
  ['The body must be at most 1 MiB, also when inflated.'],
  'too-large'
)
const tooLargeToReadOn = withHeaders(tooLarge, ['connection', 'close'])

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** Too long even to be read and forgotten: answered at once, and the connection ends. */
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

/** Reads bodies, bounded each and all together. `done` is called once, after the last byte. */
export class BodyReader {
  #bufferedBytes = 0

  /** Hands over the bytes. */
  read(request: IncomingMessage, done: Done): void {
    new Reading(done, (bytes) => this.#reserve(bytes)).start(request)
  }

  /** Reads and forgets: the links ignore their body, but no sender may stream for ever. */
  skip(request: IncomingMessage, done: Done): void {
    new Reading(done, null).start(request)
  }

  #reserve(bytes: number): boolean {
    if (this.#bufferedBytes + bytes > limits.bufferedBytesMax) return false
    this.#bufferedBytes += bytes
    return true
  }
}

class Reading {
  readonly #done: Done
  /** Null when the bytes are not wanted. Gives back what was taken when called with less than 0. */
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

  /** Starts only now, so that nobody is called from within a constructor. */
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
  | { readonly outcome: 'too-large' | 'not-gzip' }

/** Inflates a gzip body, within the bound of a plain one. */
export function inflate(bytes: Buffer, done: (inflated: Inflated) => void): void {
  gunzip(bytes, { maxOutputLength: limits.bodyBytesMax }, (error, inflated) => {
    if (error === null) return done({ outcome: 'whole', bytes: inflated })
    const isTooLarge = 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    done({ outcome: isTooLarge ? 'too-large' : 'not-gzip' })
  })
}
