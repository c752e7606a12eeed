import { Agent, request, type IncomingHttpHeaders } from 'node:http'

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs?: number
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const limits = { timeoutMs: 20_000, socketsMax: 96 } as const

/** Plain requests over kept connections; it follows no redirect and repeats nothing. */
export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: limits.socketsMax })
  readonly #timeoutMs: number

  constructor(timeoutMs: number = limits.timeoutMs) {
    this.#timeoutMs = timeoutMs
  }

  send({ method, url, headers, body, timeoutMs }: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(url, {
        method,
        agent: this.#agent,
        headers: { ...headers, ...lengthOf(body) },
        timeout: timeoutMs ?? this.#timeoutMs,
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')))
      outgoing.on('error', reject)
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text })
        })
      })
      outgoing.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

function lengthOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}
