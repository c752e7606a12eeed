// How requests reach the tracking ports: any of them, as behind a load balancer, so that an event
// whose answer was missed is mostly repeated at another node.

import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../scripts/demo/random.ts'
import { browser } from '../helpers/shoppers.ts'

const answerMs = 5_000
const repeatMs = 50

export interface Content {
  readonly path: string
  readonly body: string
}

export interface Answered {
  /** 0: there was no answer. */
  readonly status: number
  /** The address that was asked. */
  readonly by: string
}

export class Sender {
  readonly #urls: readonly string[]
  readonly #random: Random
  readonly #agent = new Agent({ keepAlive: true })
  #isClosed = false

  constructor(urls: readonly string[], random: Random) {
    this.#urls = urls
    this.#random = random
  }

  /** Who still insists is told so by an error. */
  close(): void {
    this.#isClosed = true
    this.#agent.destroy()
  }

  /** Until it is acknowledged; says by whom. `onSend` is told of each attempt before it is made. */
  async insist(content: Content, onSend: (by: string) => void): Promise<string> {
    for (;;) {
      const { status, by } = await this.post(content, { onSend })
      if (status === 200) return by
      if (status >= 400 && status < 500) throw new Error(`${content.path.slice(0, 12)}: ${status}`)
      if (this.#isClosed) throw new Error('nobody sends any more')
      await sleep(repeatMs)
    }
  }

  async post(
    { path, body }: Content,
    { patienceMs = answerMs, onSend = () => undefined }: PostOptions = {}
  ): Promise<Answered> {
    const by = this.#random.pick(this.#urls)
    onSend(by)
    const status = await new Promise<number>((resolve) => {
      const sent = request(
        `${by}${path}`,
        { method: 'POST', agent: this.#agent, headers: { 'user-agent': browser } },
        (response) => {
          response.on('error', () => resolve(0))
          response.on('end', () => resolve(response.statusCode ?? 0))
          response.resume()
        }
      )
      const timer = setTimeout(() => sent.destroy(), patienceMs)
      sent.on('error', () => resolve(0))
      sent.on('close', () => {
        clearTimeout(timer)
        resolve(0)
      })
      sent.end(body)
    })
    return { status, by }
  }

  /** A part of the request, which is nothing. */
  async sendHalf({ path, body }: Content): Promise<string> {
    const by = this.#random.pick(this.#urls)
    const head = `POST ${path} HTTP/1.1\r\nhost: shelftrace\r\ncontent-length: ${body.length}\r\n`
    // Without its body a conversion is nothing; a link is whole once its head is.
    const whole = body === '' ? head : `${head}\r\n${body}`
    const cutAt = this.#random.between(1, whole.length - 1)
    await new Promise<void>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(by).port) })
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      socket.write(whole.slice(0, cutAt), () => socket.destroy())
    })
    return by
  }
}

interface PostOptions {
  readonly patienceMs?: number
  readonly onSend?: (by: string) => void
}
