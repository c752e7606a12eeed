// Plays journeys over HTTP and writes down what happened. Within a journey a step waits for the answers
// of the one before and for `gapMs` more, so the service must see the steps in the order written down,
// whichever of its processes takes them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdFire } from './expectation.ts'
import { describeAnswer, describeError, type Failures } from './failures.ts'
import type { HttpAnswer, HttpClient } from './http.ts'
import type { Action, Journey, PlannedAd, PlannedPurchase } from './journey.ts'
import type { MintedAd } from './minting.ts'
import { prepare, type Prepared } from './requests.ts'
import type { Delivery, Return } from './sales.ts'

const limits = { journeysAtOnce: 40, gapMs: 6 } as const

export interface Played {
  readonly fires: AdFire[]
  readonly deliveries: Delivery[]
  readonly returns: Return[]
  /** Requests sent, by what they were. */
  readonly requests: Map<string, number>
}

export interface Stage {
  readonly http: HttpClient
  readonly trackingUrl: string
  readonly minted: ReadonlyMap<PlannedAd, MintedAd>
  readonly failures: Failures
}

export class Player {
  readonly played: Played = { fires: [], deliveries: [], returns: [], requests: new Map() }
  readonly #stage: Stage
  #done = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async play(
    journeys: readonly Journey[],
    onProgress: (done: number, requests: number) => void
  ): Promise<void> {
    const waiting = journeys.values()
    const worker = async (): Promise<void> => {
      for (const journey of waiting) {
        await this.#playJourney(journey)
        this.#done += 1
        onProgress(this.#done, this.requestCount)
      }
    }
    await Promise.all(Array.from({ length: limits.journeysAtOnce }, worker))
  }

  get requestCount(): number {
    return [...this.played.requests.values()].reduce((sum, count) => sum + count, 0)
  }

  async #playJourney({ steps, scenario }: Journey): Promise<void> {
    for (const step of steps) {
      await Promise.all(step.map((action) => this.#act(action, scenario)))
      await sleep(limits.gapMs)
    }
  }

  async #act(action: Action, scenario: string): Promise<void> {
    const prepared = prepare(action, this.#stage)
    const { requests } = this.played
    requests.set(prepared.kind, (requests.get(prepared.kind) ?? 0) + 1)
    this.#record(action, Date.now())
    try {
      const answer = await this.#stage.http.send(prepared.request)
      const fault = faultOf(prepared, answer)
      if (fault !== null) this.#fail(prepared, `${scenario}: ${fault}`)
    } catch (error) {
      this.#fail(prepared, `${scenario}: ${describeError(error)}`)
    }
  }

  #fail({ kind, expectation }: Prepared, fault: string): void {
    this.#stage.failures.add(kind, `expected ${expectation.status}; ${fault}`)
  }

  #record(action: Action, atMs: number): void {
    if (action.type === 'purchase') {
      this.played.deliveries.push(deliveryOf(action.purchase, atMs))
    } else if (action.type === 'return') {
      this.played.returns.push({ ...action.sentBack, atMs })
    } else if (action.type === 'fire') {
      const minted = this.#stage.minted.get(action.ad)
      if (minted === undefined) throw new Error('an ad was fired that was never minted')
      const { kind, visitor } = action
      this.played.fires.push({ kind, visitor, ad: minted.served, atMs })
    }
  }
}

function deliveryOf(purchase: PlannedPurchase, atMs: number): Delivery {
  return { ...purchase, atMs }
}

function faultOf({ expectation }: Prepared, answer: HttpAnswer): string | null {
  const { status, location, contentType, body } = expectation
  if (answer.status !== status) return `got ${describeAnswer(answer)}`
  if (location !== undefined && answer.headers.location !== location) {
    return `the location is ${answer.headers.location ?? 'missing'}, not ${location}`
  }
  const type = answer.headers['content-type'] ?? 'none'
  if (contentType !== undefined && !type.startsWith(contentType)) {
    return `the content type is ${type}, not ${contentType}`
  }
  if (body !== undefined && answer.body !== body) return `the body is ${answer.body}, not ${body}`
  return null
}
