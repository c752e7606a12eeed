// Reads the figures again and again while faults go on, and says of each fault when all that had been
// acknowledged by its end was in them. What counts though it was never sent is final at once.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../helpers/service.ts'
import { readJourneys } from './figures.ts'
import { judge } from './ledger.ts'
import type { Judgement, Ledger, LedgerPage } from './ledger.ts'
import { printTime } from './timeline.ts'
import type { Timeline } from './timeline.ts'

const pauseMs = 500
const shownMax = 10
/** Faults that may strike while the figures of earlier ones are still on their way. */
const openMax = 4

interface Claim {
  /** Whose claim it is: a fault, or the end. */
  readonly of: string
  readonly page: LedgerPage
  readonly madeAtMs: number
  readonly onHeld: (tookMs: number) => void
}

export class FigureWatch {
  readonly #service: Service
  readonly #ledger: Ledger
  readonly #timeline: Timeline
  readonly #patienceMs: number
  #claims: Claim[] = []
  #lastComplaint = 'none yet'
  #failure: Error | null = null
  #isEnding = false
  readonly #working: Promise<void>

  constructor(options: {
    readonly service: Service
    readonly ledger: Ledger
    readonly timeline: Timeline
    readonly patienceMs: number
  }) {
    this.#service = options.service
    this.#ledger = options.ledger
    this.#timeline = options.timeline
    this.#patienceMs = options.patienceMs
    this.#working = this.#run()
  }

  /** What is acknowledged by now has to show. */
  claim(of: string, onHeld: Claim['onHeld']): void {
    const page = this.#ledger.copy()
    this.#claims.push({ of, page, madeAtMs: performance.now(), onHeld })
  }

  /** Resolves when few enough claims are open for another fault; throws when a promise is broken. */
  async untilMayGoOn(): Promise<void> {
    await this.#untilAtMost(openMax - 1)
  }

  /** Resolves when every claim held. */
  async settle(): Promise<void> {
    await this.#untilAtMost(0)
  }

  async close(): Promise<void> {
    this.#isEnding = true
    await this.#working
  }

  async #untilAtMost(openCount: number): Promise<void> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure
      if (this.#claims.length <= openCount) return
      await sleep(50)
    }
  }

  async #run(): Promise<void> {
    while (!this.#isEnding && this.#failure === null) {
      try {
        await this.#look()
      } catch (error) {
        this.#failure = error instanceof Error ? error : new Error(String(error))
      }
      await sleep(pauseMs)
    }
  }

  async #look(): Promise<void> {
    if (this.#claims.length === 0) return
    const claims = this.#claims
    const figures = await readJourneys(this.#service).catch((error: unknown) => String(error))
    if (typeof figures === 'string') {
      // A fault is in the way; the claims stay open.
      this.#lastComplaint = figures
    } else {
      const after = this.#ledger.copy()
      for (const claim of claims) {
        const { missing, surplus } = judge(figures, { before: claim.page, after })
        assert.ok(surplus.length === 0, `doubled, or never sent: ${this.#tell(surplus)}`)
        if (missing.length > 0) {
          this.#lastComplaint = this.#tell(missing)
          continue
        }
        this.#claims = this.#claims.filter((open) => open !== claim)
        claim.onHeld(Math.round(performance.now() - claim.madeAtMs))
      }
    }
    const oldest = this.#claims[0]
    if (oldest === undefined || performance.now() - oldest.madeAtMs <= this.#patienceMs) return
    assert.fail(
      `lost, as far as can be seen so long after ${oldest.of}, what was acknowledged: ${this.#lastComplaint}`
    )
  }

  #tell(deviations: Judgement['missing']): string {
    const told = deviations.slice(0, shownMax).map(({ what, trace }) => {
      if (trace === undefined) return `\n  ${what}`
      const { atMs, by } = trace
      return `\n  ${what}, sent last at ${printTime(atMs)} to ${by}, ${this.#timeline.at(atMs)}`
    })
    return `${deviations.length} in all, the first of them:${told.join('')}`
  }
}
