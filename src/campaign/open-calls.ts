// What is under way between a caller and this port. Once a second each call is looked at: whether its key
// is still good, and whether sender and reader are as fast as they must be, since what they hold is scarce.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse, type Answer } from '../http/handler.ts'
import type { AccessKey } from '../access/key.ts'
import type { CampaignDeps } from './deps.ts'

export const callLimits = {
  lookMs: 1_000,
  /** For the first byte and for pauses. */
  patienceMs: 60_000,
  /** A page of 4 MB may take three minutes. */
  answerBytesPerSecondMin: 32_768,
  streamBytesPerSecondMin: 8_192,
  /** Of answers that wait for their readers. */
  answerBytesMax: 134_217_728,
  answerBytesPerKeyMax: 33_554_432,
} as const

export interface OpenCall {
  /** Null until it is known, and for public operations. */
  readonly key: AccessKey | null
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the body comes in while the handler works on it. */
  readonly isStream: boolean
}

interface Watched extends OpenCall {
  /** How long it may still be slower than it must be. */
  patienceMs: number
  bytesRead: number
  bytesLeft: number
}

const headers = { 'retry-after': '5' }

const tooMuchUnread: Answer = {
  ...refuse(429, ['The key has too many answers under way that are read too slowly.']),
  headers,
}

const fullOfAnswers: Answer = {
  ...refuse(503, ['Too many answers are under way; try again in a moment.']),
  headers,
}

type CallsDeps = Pick<CampaignDeps, 'keys' | 'log'>

export class OpenCalls {
  readonly #deps: CallsDeps
  readonly #calls = new Set<Watched>()
  readonly #timer: NodeJS.Timeout

  constructor(deps: CallsDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.look(callLimits.lookMs), callLimits.lookMs).unref()
  }

  /** Watches the call until its connection or its answer ends. */
  watch(call: OpenCall): void {
    const watched = { ...call, patienceMs: callLimits.patienceMs, bytesRead: 0, bytesLeft: 0 }
    this.#calls.add(watched)
    call.response.once('close', () => this.#calls.delete(watched))
  }

  /** Why the key may ask for nothing more right now; null when it may. */
  refusalOf(key: AccessKey | null): Answer | null {
    let allBytes = 0
    let ownBytes = 0
    for (const call of this.#calls) {
      const bytes = unreadBytes(call)
      allBytes += bytes
      if (call.key?.id === key?.id) ownBytes += bytes
    }
    if (key === null || key.isConfigured) return null
    if (ownBytes > callLimits.answerBytesPerKeyMax) return tooMuchUnread
    return allBytes > callLimits.answerBytesMax ? fullOfAnswers : null
  }

  /** Ends what may not go on. */
  look(elapsedMs: number): void {
    const validity = new Map<AccessKey, boolean>()
    for (const call of this.#calls) {
      const { key } = call
      if (key !== null && !validity.has(key)) validity.set(key, this.#deps.keys.isValid(key))
      if (key !== null && validity.get(key) === false)
        this.#end(call, 'its key is not valid any more')
      else if (isTooSlow(call, elapsedMs)) this.#end(call, 'it was too slow')
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #end({ key, request }: Watched, reason: string): void {
    this.#deps.log.info({ keyId: key?.id, reason }, 'a call was ended')
    request.socket.destroy()
  }
}

function unreadBytes({ response }: OpenCall): number {
  return response.writableEnded
    ? response.writableLength + (response.socket?.writableLength ?? 0)
    : 0
}

/** Each byte buys time, up to the patience that all have. */
function isTooSlow(call: Watched, elapsedMs: number): boolean {
  const { request, response, isStream } = call
  const left = unreadBytes(call)
  if (response.writableEnded) {
    const taken = Math.max(0, call.bytesLeft - left)
    call.bytesLeft = left
    return isOutOfPatience(call, {
      elapsedMs,
      bytes: taken,
      least: callLimits.answerBytesPerSecondMin,
    })
  }
  if (!isStream || request.complete) return false
  // What is here already waits for us.
  const isWaiting = request.readableLength === 0
  const { bytesRead } = request.socket
  const came = Math.max(0, bytesRead - call.bytesRead)
  call.bytesRead = bytesRead
  return isOutOfPatience(call, {
    elapsedMs: isWaiting ? elapsedMs : 0,
    bytes: came,
    least: callLimits.streamBytesPerSecondMin,
  })
}

function isOutOfPatience(
  call: Watched,
  spell: { readonly elapsedMs: number; readonly bytes: number; readonly least: number }
): boolean {
  const boughtMs = (spell.bytes / spell.least) * 1_000
  call.patienceMs = Math.min(callLimits.patienceMs, call.patienceMs + boughtMs - spell.elapsedMs)
  return call.patienceMs <= 0
}
