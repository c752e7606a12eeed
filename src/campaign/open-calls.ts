// The calls that are open on this port. Once a second each is checked: whether its key is still valid, and
// whether sender and reader are fast enough, because connections and memory are scarce.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse, type Answer } from '../http/handler.ts'
import type { AccessKey } from '../access/key.ts'
import { assert } from '../lib/assert.ts'
import type { CampaignDeps } from './deps.ts'

export const callLimits = {
  lookMs: 1_000,
  /** For the first byte and for pauses. */
  patienceMs: 60_000,
  /** A page of 4 MB may take three minutes. */
  answerBytesPerSecondMin: 32_768,
  streamBytesPerSecondMin: 8_192,
  /** Unread answers of all keys; above it, the slowest answers of the key that holds most are ended. */
  answerBytesMax: 134_217_728,
  answerBytesPerKeyMax: 33_554_432,
  /** For the answer of a call whose key was revoked meanwhile, possibly by that call. */
  lastAnswerMs: 1_000,
} as const

export interface OpenCall {
  /** Null for public operations. */
  readonly key: AccessKey | null
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the body comes in while the handler works on it. */
  readonly isStream: boolean
}

interface Watched extends OpenCall {
  /** How much longer it may be too slow. */
  patienceMs: number
  /** For how long its key has been seen invalid. */
  invalidMs: number
  bytesRead: number
  bytesLeft: number
}

const headers = { 'retry-after': '5' }

const tooMuchUnread: Answer = {
  ...refuse('KEY_ANSWERS_EXCEEDED', [
    'The key has too many answers under way that are read too slowly.',
  ]),
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
    const watched: Watched = {
      ...call,
      patienceMs: callLimits.patienceMs,
      invalidMs: 0,
      bytesRead: 0,
      bytesLeft: 0,
    }
    this.#calls.add(watched)
    call.response.once('close', () => this.#calls.delete(watched))
  }

  /**
   * Why the key may ask for nothing more right now; null when it may. Only a key's own unread answers
   * refuse it: when those of all keys are too many, the keys that hold most lose answers, so that slow
   * readers never keep others from theirs.
   */
  refusalOf(key: AccessKey | null): Answer | null {
    this.#makeRoom()
    if (key === null || key.isConfigured) return null
    const ownBytes = sumUnread([...this.#calls].filter((call) => call.key?.id === key.id))
    return ownBytes > callLimits.answerBytesPerKeyMax ? tooMuchUnread : null
  }

  /** Ends what may not go on. */
  look(elapsedMs: number): void {
    const validity = new Map<AccessKey, boolean>()
    for (const call of this.#calls) {
      const { key } = call
      if (key !== null && !validity.has(key)) validity.set(key, this.#deps.keys.isValid(key))
      if (key !== null && validity.get(key) === false) call.invalidMs += elapsedMs
      if (call.invalidMs > callLimits.lastAnswerMs) this.#end(call, 'its key is not valid any more')
      else if (isTooSlow(call, elapsedMs)) this.#end(call, 'it was too slow')
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #makeRoom(): void {
    let allBytes = sumUnread(this.#calls)
    while (allBytes > callLimits.answerBytesMax) {
      const heaviest = findHeaviest(this.#calls)
      const slowest = heaviest.toSorted((one, other) => one.patienceMs - other.patienceMs)[0]
      assert(slowest !== undefined, 'unread bytes belong to an answer')
      allBytes -= unreadBytes(slowest)
      this.#end(slowest, 'answers were read too slowly, and its key had most of them')
    }
  }

  #end(call: Watched, reason: string): void {
    const { key, request } = call
    this.#calls.delete(call)
    this.#deps.log.info({ keyId: key?.id, reason }, 'a call was ended')
    request.socket.destroy()
  }
}

/** The unread answers of the key that has most bytes of them. */
function findHeaviest(calls: Iterable<Watched>): readonly Watched[] {
  const byKey = new Map<string | undefined, Watched[]>()
  for (const call of calls) {
    if (unreadBytes(call) === 0) continue
    const own = byKey.get(call.key?.id)
    if (own === undefined) byKey.set(call.key?.id, [call])
    else own.push(call)
  }
  return [...byKey.values()].toSorted((one, other) => sumUnread(other) - sumUnread(one))[0] ?? []
}

function sumUnread(calls: Iterable<OpenCall>): number {
  let bytes = 0
  for (const call of calls) bytes += unreadBytes(call)
  return bytes
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
  // Bytes that have arrived already wait for this process, not for the caller.
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
