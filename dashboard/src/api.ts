// All calls to the service. Each sends the key, which is kept nowhere else; without one, a proxy says who asks.
import { ownPageHeader } from '../../src/domain/person.ts'
import { AnswerCache } from './answer-cache.ts'
import { t } from './language.ts'
import { ServiceClock } from './service-clock.ts'
import { messagesOfRefusal } from './service-words.ts'
import { errorCodeHeader } from '../../src/contract/refusal-codes.ts'

const limits = {
  /** A key may read four reports at once; one is left for the reader's own programs. */
  atOnceMax: 3,
  /** Colleagues may share a key: a question waits for a free place rather than fail. */
  placeMsMax: 60_000,
  waitMsMax: 10_000,
  waitMsDefault: 1_000,
  /** A large report may take its time; a service that hangs must not be waited for without end. */
  answerMsMax: 60_000,
  healthMsMax: 5_000,
} as const

/** A failure in words for people. */
export class ApiError extends Error {
  /** 0 if the service did not answer. */
  readonly status: number
  readonly messages: readonly string[]

  constructor(status: number, messages: readonly string[]) {
    super(messages.join(' '))
    this.status = status
    this.messages = messages
  }
}

interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Of the answer; JSON when absent. */
  readonly mediaType?: string
}

export class Api {
  readonly answers = new AnswerCache()
  readonly clock = new ServiceClock()
  readonly #key: string | null
  readonly #onRefusedKey: (code: string | null) => void
  /** Who is signed in by a proxy, as far as the page knows. */
  #person: string | null = null
  readonly #waiting: (() => void)[] = []
  readonly #onPlaces = new Set<() => void>()
  #withoutPlace = 0
  #running = 0

  constructor(key: string | null, onRefusedKey: (code: string | null) => void) {
    this.#key = key
    this.#onRefusedKey = onRefusedKey
  }

  /** From now on the service refuses calls once the proxy names somebody else. */
  actAs(person: string): void {
    this.#person = person
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return await this.#json({ method: 'GET', path, signal })
  }

  async post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return await this.#json({ method: 'POST', path, body, signal })
  }

  async put<T>(path: string, body: unknown): Promise<T> {
    return await this.#json({ method: 'PUT', path, body })
  }

  async delete(path: string): Promise<void> {
    await this.#send({ method: 'DELETE', path })
  }

  /** The body as text, for CSV and the like. */
  async text(
    asked: Asked & Required<Pick<Asked, 'mediaType'>>
  ): Promise<{ readonly text: string; readonly headers: Headers }> {
    const response = await this.#send(asked)
    const text = await readWhole(async () => await response.text(), asked.signal)
    return { text, headers: response.headers }
  }

  async #json<T>(asked: Asked): Promise<T> {
    const response = await this.#send(asked)
    // The contract's types; the service's tests hold it to them.
    return await readWhole<T>(async () => await response.json(), asked.signal)
  }

  async #send(asked: Asked): Promise<Response> {
    await this.#takeTurn(asked.signal)
    try {
      return await this.#try(asked)
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }

  async #takeTurn(signal: AbortSignal | undefined): Promise<void> {
    while (this.#running >= limits.atOnceMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#running += 1
    if (signal?.aborted !== true) return
    this.#running -= 1
    this.#waiting.shift()?.()
    signal.throwIfAborted()
  }

  /** Whether a question waits because the key or the service has no free place for it. */
  isWaitingForPlace(): boolean {
    return this.#withoutPlace > 0
  }

  /** Calls whenever that changes; returns how to end it. */
  onPlacesChanged(listener: () => void): () => void {
    this.#onPlaces.add(listener)
    return () => this.#onPlaces.delete(listener)
  }

  async #try(asked: Asked): Promise<Response> {
    const endsAtMs = Date.now() + limits.placeMsMax
    for (;;) {
      const response = await this.#fetch(asked)
      if (response.ok) {
        if (!isOwn(response, asked)) throw foreignAnswer()
        return response
      }
      const isBusy = response.status === 429 || response.status === 503
      const pauseMs = waitMs(response)
      const isLate = Date.now() + pauseMs > endsAtMs
      if (!isBusy || isLate || (asked.method !== 'GET' && !isReport(asked))) {
        if (response.status === 401) this.#onRefusedKey(response.headers.get(errorCodeHeader))
        throw new ApiError(response.status, await readMessages(response))
      }
      await this.#waitForPlace(pauseMs, asked.signal)
    }
  }

  async #waitForPlace(ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.#noteWithoutPlace(1)
    try {
      await wait(ms, signal)
    } finally {
      this.#noteWithoutPlace(-1)
    }
  }

  #noteWithoutPlace(change: 1 | -1): void {
    this.#withoutPlace += change
    for (const listener of this.#onPlaces) listener()
  }

  async #fetch({ method, path, body, signal }: Asked): Promise<Response> {
    const patience = AbortSignal.timeout(limits.answerMsMax)
    const key = this.#key
    try {
      const response = await fetch(new URL(path, document.baseURI), {
        method,
        headers: {
          // A proxy in front then answers with a 401 rather than with a page where people sign in.
          accept: 'application/json, */*',
          ...(key === null
            ? { [ownPageHeader]: this.#person ?? '1' }
            : { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        cache: 'no-store',
        // The session of a proxy in front is a cookie of this address; the service itself has none.
        credentials: 'same-origin',
        redirect: 'manual',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
      })
      this.clock.hear(response.headers.get('date'))
      // The service never redirects: a proxy wants people to sign in again.
      return response.type === 'opaqueredirect' ? new Response(null, { status: 401 }) : response
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (patience.aborted) throw lateAnswer()
      const failure = await unreached()
      signal?.throwIfAborted()
      throw failure
    }
  }
}

/**
 * Ad blockers block addresses with words such as "advertisers". That of the health check has none, so it tells whether
 * the service itself is away.
 */
async function unreached(): Promise<ApiError> {
  const url = new URL('healthz', document.baseURI)
  const signal = AbortSignal.timeout(limits.healthMsMax)
  const isAlive = await fetch(url, { cache: 'no-store', redirect: 'manual', signal }).then(
    ({ ok }) => ok,
    () => false
  )
  return new ApiError(0, [
    isAlive
      ? t(
          'The service answers, but this call has not reached it. If this goes on, a browser extension such as an ad blocker may be blocking it: allow this address there.'
        )
      : t('The service cannot be reached.'),
  ])
}

/** A connection may also end, or hang, in the middle of an answer. */
async function readWhole<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (signal?.aborted === true) throw error
    if (error instanceof DOMException && error.name === 'TimeoutError') throw lateAnswer()
    throw new ApiError(0, [t('The answer of the service has not come whole.')])
  }
}

function lateAnswer(): ApiError {
  const count = limits.answerMsMax / 1_000
  return new ApiError(0, [t('The service has not answered within {{count}} seconds.', { count })])
}

/** A proxy may answer with a page of its own in place of the service, also with 200. */
function isOwn({ status, headers }: Response, { method, mediaType = 'application/json' }: Asked) {
  if (method === 'DELETE') return status === 204
  return headers.get('content-type')?.startsWith(mediaType) === true
}

/** What is not the service's is neither figures nor success. */
export function foreignAnswer(): ApiError {
  return new ApiError(0, [
    t(
      'Something else answered in place of the service, such as a page of a proxy where people sign in. Reloading this page may help.'
    ),
  ])
}

/** Reading a report is a POST that changes nothing, so it may be repeated. */
function isReport({ path }: Asked): boolean {
  return path.includes('/reports/')
}

async function readMessages(response: Response): Promise<readonly string[]> {
  try {
    const body: { readonly messages?: readonly string[] } = await response.json()
    if (Array.isArray(body.messages) && body.messages.length > 0) {
      return messagesOfRefusal(response.headers.get(errorCodeHeader), body.messages)
    }
  } catch {
    // The answer of a proxy is not JSON; then the status must do.
  }
  return [
    t('The service answered with the status {{status}}.', { status: String(response.status) }),
  ]
}

/** As long as the service says, give or take a quarter: those who were refused together must not come back together. */
function waitMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const ms = Number.isFinite(seconds)
    ? Math.min(seconds * 1_000, limits.waitMsMax)
    : limits.waitMsDefault
  return ms * (0.75 + Math.random() / 2)
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
      },
      { once: true }
    )
  })
}
