// One request and its answer over fetch, bounded in time, ended by close() whatever state it is in.
import { aborted, ClientError, type ClientErrorCode } from './client-error.ts'

export interface HttpRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

interface Patience {
  /** To the end of the answer, unless `stream` is called. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** Resolves when the head of the answer has arrived. The caller must close the exchange. */
export async function openExchange(request: HttpRequest, patience: Patience): Promise<Exchange> {
  const wait = new Wait(request.url.origin, patience.signal)
  wait.atMost(patience.timeoutMs)
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      // A redirect would turn a POST into a GET, or carry the request to somebody else.
      redirect: 'manual',
      signal: wait.signal,
    })
    return new Exchange(response, wait)
  } catch (cause) {
    const error = wait.explain(cause, 'NETWORK_FAILED')
    wait.end()
    throw error
  }
}

export class Exchange {
  readonly status: number
  readonly #response: Response
  readonly #wait: Wait
  readonly #reader: ReturnType<typeof readerOf>
  #silenceMs: number | null = null
  #isWhole = false

  constructor(response: Response, wait: Wait) {
    this.status = response.status
    this.#response = response
    this.#wait = wait
    this.#reader = readerOf(response)
  }

  header(name: string): string | null {
    return this.#response.headers.get(name)
  }

  /** From here on the answer may last as long as it moves. */
  stream(silenceMs: number): void {
    this.#silenceMs = silenceMs
    this.#wait.atMost(null)
  }

  /** The next part; null at the end. Only one at a time. */
  async read(): Promise<Uint8Array | null> {
    if (this.#silenceMs !== null) this.#wait.atMost(this.#silenceMs)
    try {
      const part = await this.#reader?.read()
      if (this.#silenceMs !== null) this.#wait.atMost(null)
      if (part !== undefined && !part.done) return part.value
      this.#isWhole = true
      return null
    } catch (cause) {
      throw this.#wait.explain(cause, 'ANSWER_BROKEN')
    }
  }

  async readText(bytesMax: number): Promise<string> {
    const parts: Uint8Array[] = []
    let bytes = 0
    for (let part = await this.read(); part !== null; part = await this.read()) {
      bytes += part.length
      if (bytes > bytesMax) {
        throw new ClientError('ANSWER_UNEXPECTED', `the answer is longer than ${bytesMax} bytes`)
      }
      parts.push(part)
    }
    return Buffer.concat(parts).toString('utf8')
  }

  /** Breaks the connection unless the answer was read to its end; then it is kept for the next one. */
  close(): void {
    this.#wait.end()
    if (!this.#isWhole) this.#wait.abort()
  }
}

function readerOf(response: Response) {
  const body: ReadableStream<Uint8Array> | null = response.body
  return body?.getReader()
}

/** The reasons why an exchange ends before its time: the caller, the clock, or its owner. */
class Wait {
  readonly #controller = new AbortController()
  readonly #origin: string
  readonly #caller: AbortSignal | undefined
  readonly #onAbort = (): void => this.abort()
  #timer: NodeJS.Timeout | undefined
  #expiredMs: number | null = null

  constructor(origin: string, caller: AbortSignal | undefined) {
    this.#origin = origin
    this.#caller = caller
    caller?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Replaces what was said before; null: for ever. */
  atMost(ms: number | null): void {
    clearTimeout(this.#timer)
    if (ms === null) return
    this.#timer = setTimeout(() => {
      this.#expiredMs = ms
      this.#controller.abort()
    }, ms)
  }

  explain(cause: unknown, code: ClientErrorCode): ClientError {
    if (this.#caller?.aborted === true) return aborted(this.#caller)
    const origin = this.#origin
    if (this.#expiredMs !== null) {
      const text = `${origin} kept the client waiting for more than ${this.#expiredMs} ms`
      return new ClientError('TIMED_OUT', text, { cause })
    }
    const what = code === 'NETWORK_FAILED' ? 'the request failed' : 'the answer broke off'
    const reason = reasonOf(cause)
    return new ClientError(code, `${origin}: ${what}${reason === '' ? '' : ` (${reason})`}`, {
      cause,
    })
  }

  abort(): void {
    this.#controller.abort()
  }

  /** The caller's signal may outlive many exchanges, which must not pile up in it. */
  end(): void {
    this.atMost(null)
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }
}

/** The system's name of the fault (`ECONNREFUSED`), which fetch wraps twice; never its text. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return inner instanceof Error && 'code' in inner ? String(inner.code) : ''
}
