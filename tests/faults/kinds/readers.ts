// Readers of reports who take a few bytes a second, with several keys, and ask again when they are cut.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../helpers/service.ts'
import { largeAdvertiserId } from '../large-report.ts'
import { strikesAlone } from './kind.ts'
import type { FaultKind } from './kind.ts'

/** More than the warehouse in process has sessions, with as many reports as one key may read at once. */
const readersPerKey = 4

const answerMs = 10_000
const answerPauseMs = 500

/** A second: one hardly takes anything, the other keeps the transfer from looking stalled. */
const speeds = [1, 65_536] as const

export const readerKinds: readonly FaultKind[] = [
  {
    name: 'slow readers',
    weight: 1.5,
    needs: [],
    targets: strikesAlone,
    strike: async ({ installation: { engine }, random }) => {
      const keys = await Promise.all(
        Array.from({ length: random.between(3, 5) }, async () => await makeKey(engine))
      )
      const readers = keys.flatMap((key) =>
        Array.from({ length: readersPerKey }, () => {
          const format = random.pick(['csv', 'csv', 'csv', 'json'] as const)
          return new SlowReader(engine, { key, format, bytesPerSecond: random.pick(speeds) })
        })
      )
      // Now and then longer than the service goes by what it knows of keys.
      const ms = random.chance(0.4) ? random.between(32_000, 45_000) : random.between(500, 6_000)
      const refusals = await askWhile(engine, await makeKey(engine), ms)
      const faultCount = random.between(0, 4)
      const told = `${readers.length} with ${keys.length} keys for ${ms} ms, and through ${faultCount} faults more`
      const close = () => {
        for (const reader of readers) reader.close()
      }
      if (refusals.length > 0) {
        close()
        assert.fail(`others are refused for it: ${refusals.join(', ')}: ${told}`)
      }
      const end = async () => {
        await Promise.resolve()
        close()
      }
      return { told, lasting: { faultCount, end, abandon: close } }
    },
  },
]

async function makeKey(service: Service): Promise<string> {
  const made = await service.admin('POST', '/admin/v1/keys', {
    name: 'Slow reader',
    advertisers: [largeAdvertiserId],
    scopes: ['report:read'],
  })
  if (!made.ok) throw new Error(`key: ${made.status} ${await made.text()}`)
  return ((await made.json()) as { key: string }).key
}

/** Whatever but a 200 another customer is answered meanwhile. */
async function askWhile(service: Service, key: string, ms: number): Promise<readonly string[]> {
  const untilMs = performance.now() + ms
  const refusals: string[] = []
  do {
    const answer = await fetch(`${service.campaignUrl}/v2/me`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(answerMs),
    }).catch(() => null)
    const text = await answer?.text().catch(() => 'cut')
    if (answer !== null && answer.status !== 200) refusals.push(`${answer.status} ${text}`)
    await sleep(answerPauseMs)
  } while (performance.now() < untilMs)
  return [...new Set(refusals)]
}

interface Manner {
  readonly key: string
  readonly format: 'csv' | 'json'
  readonly bytesPerSecond: number
}

class SlowReader {
  readonly #service: Service
  readonly #manner: Manner
  readonly #ticking: NodeJS.Timeout
  #socket: Socket | null = null

  constructor(service: Service, manner: Manner) {
    this.#service = service
    this.#manner = manner
    this.#ask()
    this.#ticking = setInterval(() => this.#tick(), 1_000)
  }

  close(): void {
    clearInterval(this.#ticking)
    this.#socket?.destroy()
  }

  #tick(): void {
    if (this.#socket === null || this.#socket.destroyed) this.#ask()
    // Without listeners nothing is read but here.
    else this.#socket.read(Math.min(this.#manner.bytesPerSecond, this.#socket.readableLength || 1))
  }

  #ask(): void {
    const { key, format } = this.#manner
    const body = JSON.stringify({
      startDate: dayFromNow(-2),
      endDate: dayFromNow(2),
      attributionProfile: 'CLK_14_DAYS',
      limit: 10_000,
    })
    const { port } = new URL(this.#service.campaignUrl)
    const socket = connect({ host: '127.0.0.1', port: Number(port) })
    socket.on('error', () => undefined)
    socket.write(
      `POST /v2/advertisers/${largeAdvertiserId}/reports/spa/product.${format} HTTP/1.1\r\n` +
        `host: shelftrace\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`
    )
    this.#socket = socket
  }
}

function dayFromNow(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}
