// Callers who hold connections and ask nothing, more of them than a process may have files open.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../helpers/service.ts'
import { openFilesMax } from '../installation.ts'
import type { FaultKind } from './kind.ts'

const connectPauseMs = 20
const connectionsPerPause = 50
const answerMs = 5_000
const answerPauseMs = 100
/** The load has 127.0.0.1; these are of other callers. */
const addressCountMax = 250

export const connectionKinds: readonly FaultKind[] = [
  hold('tracking', ({ trackingUrl }) => trackingUrl),
  hold('campaign', ({ campaignUrl }) => campaignUrl),
]

type Urls = { readonly trackingUrl: string; readonly campaignUrl: string }

function hold(port: 'tracking' | 'campaign', urlOf: (urls: Urls) => string): FaultKind {
  return {
    name: `idle connections on ${port} port`,
    weight: 1.5,
    needs: [],
    targets: ['connections', 'processes'],
    strike: async ({ installation, random }) => {
      const nodes = port === 'tracking' ? installation.trackingNodes : installation.nodes
      const { name, service } = random.pick(nodes)
      // Two trackers share a port: beyond the limit of both together.
      const count = openFilesMax * (port === 'tracking' ? 2 : 1) + random.between(50, 400)
      const addressCount = random.chance(0.5) ? 1 : random.between(2, addressCountMax)
      const ms = random.between(500, 6_000)
      const beginning = random.pick(beginnings)
      const pids = listChildren(service)
      const holder = new Holder(Number(new URL(urlOf(service)).port))
      try {
        await holder.connect({ count, addressCount, text: beginning.text })
        const answers = await askFor(`${urlOf(service)}/healthz`, ms)
        const told =
          `${name}, ${count} ${beginning.what} from ${addressCount} addresses for ${ms} ms, ${holder.brokenCount} broken off, ` +
          `${answers.given} of ${answers.asked} others answered`
        assert.deepEqual(listChildren(service), pids, `no process ends: ${told}`)
        // What only is open makes room for others; one caller at work never keeps all the others out.
        const mustAnswer = port === 'tracking' && (addressCount === 1 || !beginning.isAtWork)
        assert.ok(!mustAnswer || answers.given > 0, told)
        return { told }
      } finally {
        holder.close()
      }
    },
  }
}

function listChildren(service: Service): readonly number[] {
  return [...service.children('engine'), ...service.children('tracker')].toSorted((a, b) => a - b)
}

/** Over connections of their own, from the address of the load. */
async function askFor(url: string, ms: number): Promise<{ asked: number; given: number }> {
  const untilMs = performance.now() + ms
  const answers = { asked: 0, given: 0 }
  do {
    answers.asked += 1
    const answer = await fetch(url, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(answerMs),
    }).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.status === 200) answers.given += 1
    await sleep(answerPauseMs)
  } while (performance.now() < untilMs)
  return answers
}

class Holder {
  readonly #port: number
  #sockets: Socket[] = []
  brokenCount = 0

  constructor(port: number) {
    this.#port = port
  }

  async connect(options: {
    readonly count: number
    readonly addressCount: number
    readonly text: string
  }): Promise<void> {
    const { count, addressCount, text } = options
    for (let index = 0; index < count; index += 1) {
      const localAddress = `127.0.1.${1 + (index % addressCount)}`
      const socket = connect({ host: '127.0.0.1', port: this.#port, localAddress })
      // What a node does not take it may break off at once, or let wait.
      socket.on('error', () => undefined)
      socket.on('close', () => (this.brokenCount += 1))
      socket.on('connect', () => socket.write(text))
      socket.resume()
      this.#sockets.push(socket)
      if (index % connectionsPerPause === 0) await sleep(connectPauseMs)
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets = []
  }
}

interface Beginning {
  readonly what: string
  readonly text: string
  /** A node that has begun to answer does not take the connection away. */
  readonly isAtWork: boolean
}

const beginnings: readonly Beginning[] = [
  { what: 'silent ones', text: '', isAtWork: false },
  { what: 'with half a head', text: 'GET /healthz HTTP/1.1\r\nhost: shel', isAtWork: false },
  {
    what: 'with half a body',
    text: 'POST /conversion HTTP/1.1\r\nhost: shelftrace\r\ncontent-length: 1000\r\n\r\n{',
    isAtWork: true,
  },
  {
    what: 'kept open after a request',
    text: 'GET /healthz HTTP/1.1\r\nhost: shelftrace\r\n\r\n',
    isAtWork: false,
  },
]
