// A seeded run of faults against an installation under load. After each fault it must be ready again by
// itself, and its figures must come to hold what was acknowledged, once, and never what was not sent.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../scripts/demo/random.ts'
import { eventually } from '../helpers/service.ts'
import { FigureWatch } from './figure-watch.ts'
import { readTotals } from './figures.ts'
import type { Totals } from './figures.ts'
import { startInstallation } from './installation.ts'
import type { Installation, InstallationKind } from './installation.ts'
import type { FaultKind, Struck } from './kinds/kind.ts'
import { faultsCatalog, largeAdvertiserId, loadLargeReport } from './large-report.ts'
import { steps } from './ledger.ts'
import type { Step } from './ledger.ts'
import { Load } from './load.ts'
import { planRounds, possibleKinds, printMix } from './plan.ts'
import type { Round } from './plan.ts'
import { findComplaint } from './readiness.ts'
import { Timeline } from './timeline.ts'

/** Twice as long as anything in the service waits before it tries again or gives up. */
const patienceMsDefault = 600_000
const mintedAhead = 3_000

export interface RunOptions {
  readonly seed: number
  readonly faultCount: number
  readonly installation: InstallationKind
  /** Those of them that can strike the installation do. */
  readonly kinds: readonly FaultKind[]
  /** No fault begins later. */
  readonly deadlineMs?: number
  readonly shopperCount?: number
  /** How long taken ports stay taken; drawn when absent. */
  readonly portSeconds?: number
  /** How long it may take to be ready, and to show what was acknowledged. */
  readonly patienceMs?: number
  readonly print: (line: string) => void
}

export interface RunResult {
  readonly faultCount: number
  readonly acknowledged: Readonly<Record<Step, number>>
  /** Sent without an answer to the end. */
  readonly unanswered: Readonly<Record<Step, number>>
  readonly slowestReadyMs: number
  readonly slowestFiguresMs: number
}

interface Lifetime {
  after(close: () => Promise<void>): void
}

/** Throws with the ledger's complaint as soon as a promise is broken. */
export async function runFaults(t: Lifetime, options: RunOptions): Promise<RunResult> {
  const installation = await startInstallation(t, options.installation)
  const kinds = possibleKinds(options.kinds, installation)
  const rounds = planRounds({ ...options, kinds })
  options.print(`seed ${options.seed}, ${options.installation}: ${printMix(rounds)}`)
  const { engine, trackingUrls } = installation
  const load = new Load({
    engine,
    trackingUrls,
    seed: options.seed + 1,
    shopperCount: options.shopperCount ?? 6,
    pauseMs: 400,
  })
  const loaded = await engine.admin('PUT', '/admin/v1/catalog', faultsCatalog)
  assert.equal(loaded.status, 200)
  if (rounds.some(({ faults }) => faults.some(({ kind }) => kind.name === 'slow readers'))) {
    await loadLargeReport(engine, load)
  }
  const key = await makeKey(installation)
  await load.mintAhead(mintedAhead)
  load.start()
  return await new Run({ installation, load, key, options }).strikeAll(rounds)
}

async function makeKey({ engine }: Installation): Promise<string> {
  const made = await engine.admin('POST', '/admin/v1/keys', {
    name: 'Watch',
    advertisers: [1, largeAdvertiserId],
    scopes: ['report:read', 'metrics:read'],
  })
  const text = await made.text()
  assert.equal(made.status, 201, text)
  return (JSON.parse(text) as { key: string }).key
}

interface RunParts {
  readonly installation: Installation
  readonly load: Load
  /** Of an ordinary customer. */
  readonly key: string
  readonly options: RunOptions
}

/** What a fault left behind, to be ended once its figures hold and that many faults have struck. */
interface Lasting {
  readonly endsAfter: number
  hasHeld: boolean
  readonly end: () => Promise<void>
  readonly abandon: () => void
}

class Run {
  readonly #parts: RunParts
  readonly #patienceMs: number
  readonly #timeline = new Timeline()
  readonly #watch: FigureWatch
  #lasting: Lasting[] = []
  #struckCount = 0
  #slowestReadyMs = 0
  #slowestFiguresMs = 0

  constructor(parts: RunParts) {
    this.#parts = parts
    this.#patienceMs = parts.options.patienceMs ?? patienceMsDefault
    this.#watch = new FigureWatch({
      service: parts.installation.engine,
      ledger: parts.load.ledger,
      timeline: this.#timeline,
      patienceMs: this.#patienceMs,
    })
  }

  async strikeAll(rounds: readonly Round[]): Promise<RunResult> {
    const { load, options, installation } = this.#parts
    const deadlineMs = options.deadlineMs ?? Infinity
    try {
      for (const round of rounds) {
        if (Date.now() >= deadlineMs) break
        load.check()
        await this.#endWhatLasted(round.number)
        await this.#strikeAndRecover(round)
        this.#struckCount += round.faults.length
      }
      await this.#watch.settle()
      await this.#endWhatLasted(Infinity)
      await load.stop()
      this.#watch.claim('the end', () => undefined)
      await this.#watch.settle()
      return await this.#conclude()
    } catch (error) {
      const complaint = error instanceof Error ? error.message : String(error)
      throw new Error(
        `seed ${options.seed}, ${options.installation}, ${this.#struckCount} faults over: ${complaint}\n` +
          `the last faults:\n${this.#timeline.print()}\nthe end of the logs:\n${installation.stderr}`,
        { cause: error }
      )
    } finally {
      for (const { abandon } of this.#lasting) abandon()
      await load.abandon()
      await this.#watch.close()
    }
  }

  async #endWhatLasted(nextNumber: number): Promise<void> {
    const ripe = this.#lasting.filter((one) => one.hasHeld && one.endsAfter < nextNumber)
    for (const one of ripe) {
      await one.end()
      this.#lasting = this.#lasting.filter((other) => other !== one)
    }
  }

  async #strikeAndRecover({ number, pauseMs, faults }: Round): Promise<void> {
    const { installation, load, key, options } = this.#parts
    await sleep(pauseMs)
    const beganAt = new Date().toISOString()
    const struck = await Promise.all(
      faults.map(async ({ kind, seed }, index) => {
        await sleep(index * 300)
        const tellOver = this.#timeline.begin(number + index, kind.name)
        const random = new Random(seed)
        const { ledger } = load
        const portSeconds = options.portSeconds ?? null
        const patienceMs = this.#patienceMs
        const context = { installation, load, ledger, random, portSeconds, patienceMs }
        const one = await kind.strike(context)
        const told = `${kind.name} (${one.told})`
        tellOver(told)
        return { ...one, told }
      })
    )
    const told = struck.map((one) => one.told).join(' + ')
    const overAtMs = performance.now()
    const ended = installation.nodes.filter(({ service }) => !service.isRunning)
    assert.deepEqual(
      ended.map(({ name }) => name),
      [],
      `the supervisors go on after ${told}`
    )
    let complaint = ''
    await eventually(
      `all ports are ready after ${told}`,
      async () => {
        const found = await findComplaint(installation, key)
        if (found !== null) complaint = found
        return found === null
      },
      this.#patienceMs
    )
    const readyMs = Math.round(performance.now() - overAtMs)
    this.#slowestReadyMs = Math.max(this.#slowestReadyMs, readyMs)
    const lasting = this.#keepLasting(number + faults.length - 1, struck)
    this.#watch.claim(`fault ${number} ${told}`, (tookMs) => {
      for (const one of lasting) one.hasHeld = true
      const figuresMs = readyMs + tookMs
      this.#slowestFiguresMs = Math.max(this.#slowestFiguresMs, figuresMs)
      options.print(
        `${String(number).padStart(3)}  ${beganAt}  ${told}: ready after ${readyMs} ms${complaint === '' ? '' : ` (last ${complaint})`}, ` +
          `figures hold after ${figuresMs} ms`
      )
    })
    await this.#watch.untilMayGoOn()
    await load.mintAhead(mintedAhead)
  }

  #keepLasting(number: number, struck: readonly Struck[]): readonly Lasting[] {
    const lasting = struck.flatMap((one) => {
      if (one.lasting === undefined) return []
      const { faultCount, end, abandon = () => undefined } = one.lasting
      return [{ endsAfter: number + faultCount, hasHeld: false, end, abandon }]
    })
    this.#lasting.push(...lasting)
    return lasting
  }

  async #conclude(): Promise<RunResult> {
    const { installation, load, key } = this.#parts
    let totals: Totals | undefined
    await eventually('the spools are empty', async () => {
      totals = await readTotals(installation, key)
      return totals.spoolBytes === 0
    })
    const { ledger } = load
    const countOf = (delivery: 'acknowledged' | 'sent') =>
      Object.fromEntries(steps.map((step) => [step, ledger.count(step, delivery)])) as Record<
        Step,
        number
      >
    const acknowledged = countOf('acknowledged')
    const unanswered = countOf('sent')
    const { countedPurchases: counted = -1, waitingDeliveries: waiting = 0 } = totals ?? {}
    // What was received under a clock that ran ahead waits until that instant.
    const most = counted + waiting
    assert.ok(most >= acknowledged.purchase, `${most} of ${acknowledged.purchase} purchases`)
    assert.ok(counted <= acknowledged.purchase + unanswered.purchase, `${counted} purchases`)
    assert.equal(totals?.conflicts, 0)
    assert.equal(totals.setAside, 0)
    return {
      faultCount: this.#struckCount,
      acknowledged,
      unanswered,
      slowestReadyMs: this.#slowestReadyMs,
      slowestFiguresMs: this.#slowestFiguresMs,
    }
  }
}
