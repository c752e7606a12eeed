// Tells another system what begins and ends to be wrong, signed as Standard Webhooks describes
// (https://www.standardwebhooks.com): webhook-id, webhook-timestamp, and webhook-signature over both and the body.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '../../lib/clock.ts'
import type { AlertChange } from './watch.ts'

export interface WebhookTarget {
  /** May hold a token, so it is never logged. */
  readonly url: string
  readonly secret: Buffer
}

export interface WebhookDeps extends WebhookTarget {
  readonly clock: Clock
  readonly log: Logger
  /** Which node tells it. */
  readonly node: string
  /** Shortened by tests only. */
  readonly pausesMs?: readonly number[]
}

interface Message {
  readonly id: string
  readonly body: string
}

/** After the last one, a message is given up: an alert of yesterday wakes nobody usefully. */
const pausesMs = [5_000, 30_000, 120_000, 600_000, 3_600_000, 3_600_000] as const
const answerMsMax = 10_000
const waitingMax = 200

export class Webhook {
  readonly #deps: WebhookDeps
  readonly #closing = new AbortController()
  #waiting: Message[] = []
  #sending: Promise<void> | null = null

  constructor(deps: WebhookDeps) {
    this.#deps = deps
  }

  /** Messages leave one after the other, so that an end never arrives before its beginning. */
  tell({ type, atMs, alert }: AlertChange): void {
    const timestamp = new Date(atMs).toISOString()
    const data = { ...alert, node: this.#deps.node }
    const message = { id: `msg_${randomUUID()}`, body: JSON.stringify({ type, timestamp, data }) }
    if (this.#waiting.length >= waitingMax) {
      this.#waiting.shift()
      this.#deps.log.error('the oldest message of the webhook is dropped: too many wait')
    }
    this.#waiting.push(message)
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = null))
  }

  /** What waits is not sent any more; after the next start, what still stands is known by the status. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const [message] = this.#waiting
      if (message === undefined || this.#closing.signal.aborted) return
      await this.#send(message)
      this.#waiting = this.#waiting.filter((one) => one !== message)
    }
  }

  async #send(message: Message): Promise<void> {
    const { log } = this.#deps
    for (const pauseMs of [...(this.#deps.pausesMs ?? pausesMs), null]) {
      const fault = await this.#try(message)
      if (fault === null || this.#closing.signal.aborted) return
      if (pauseMs === null) log.error({ fault }, 'the webhook took no message; it is given up')
      else {
        log.warn({ fault }, 'the webhook took no message; it is sent again')
        await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
  }

  /** Null, or why it was not taken. */
  async #try({ id, body }: Message): Promise<string | null> {
    const { url, secret, clock } = this.#deps
    const timestamp = String(Math.floor(clock() / 1_000))
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'shelftrace',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`,
        },
        // Elsewhere, the message would go to somebody whom nobody named.
        redirect: 'manual',
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(answerMsMax)]),
      })
      await response.body?.cancel()
      return response.ok ? null : `status ${response.status}`
    } catch (error) {
      // The message of a failed fetch may hold the address.
      return error instanceof Error ? (causeCode(error) ?? error.name) : 'unknown'
    }
  }
}

export function sign(secret: Buffer, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64')
}

function causeCode(error: Error): string | undefined {
  const code: unknown = Reflect.get(Object(error.cause), 'code')
  return typeof code === 'string' ? code : undefined
}
