// A seeded run of faults against a node under load. After each fault the node must be ready again by
// itself, and its figures must come to hold what was acknowledged, once, and never what was not sent.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../scripts/demo/random.ts'
import { eventually } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import { demoCatalog } from '../helpers/shoppers.ts'
import { faultKinds } from './fault-kinds.ts'
import type { FaultContext } from './fault-kinds.ts'
import { FigureWatch } from './figure-watch.ts'
import { readTotals } from './figures.ts'
import type { Totals } from './figures.ts'
import { steps } from './ledger.ts'
import type { Step } from './ledger.ts'
import { Load } from './load.ts'
import { startNode } from './node.ts'
import type { FaultyNode, WarehouseKind } from './node.ts'

/** Twice as long as anything in the service waits before it tries again or gives up. */
const patienceMs = 600_000
/** Some faults strike while another lasts. */
const pairShare = 0.15

export interface RunOptions {
  readonly seed: number
  readonly faultCount: number
  readonly warehouse: WarehouseKind
  /** No fault begins later. */
  readonly deadlineMs?: number
  readonly shopperCount?: number
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
  const { node, warehouseFolder } = await startNode(t, { warehouse: options.warehouse })
  const random = new Random(options.seed)
  const load = new Load({
    service: node.service,
    seed: options.seed + 1,
    shopperCount: options.shopperCount ?? 6,
    pauseMs: 400,
  })
  const loaded = await node.service.admin('PUT', '/admin/v1/catalog', demoCatalog)
  assert.equal(loaded.status, 200)
  await load.mintAhead(mintedAhead)
  load.start()

  const context = { node, warehouseFolder, ledger: load.ledger, random }
  const times = { readyMs: 0, figuresMs: 0 }
  const watch = new FigureWatch({ service: node.service, ledger: load.ledger, patienceMs })
  let count = 0
  try {
    while (count < options.faultCount && Date.now() < (options.deadlineMs ?? Infinity)) {
      count += await strikeAndRecover({ context, watch, load, times, number: count + 1, options })
    }
    await watch.settle()
    await load.stop()
    watch.claim(() => undefined)
    await watch.settle()
  } catch (error) {
    const log = node.service.stderr.slice(-20_000)
    throw new Error(`fault ${count + 1} of seed ${options.seed}; the end of the log:\n${log}`, {
      cause: error,
    })
  } finally {
    await load.stop()
    await watch.close()
  }
  return await conclude({ node, load, count, times })
}

const mintedAhead = 3_000

interface Round {
  readonly context: FaultContext
  readonly watch: FigureWatch
  readonly load: Load
  readonly times: { readyMs: number; figuresMs: number }
  readonly number: number
  readonly options: RunOptions
}

/** How many faults it were. */
async function strikeAndRecover(round: Round): Promise<number> {
  const { context, watch, load, times, number, options } = round
  const { node, random } = context
  await sleep(random.between(100, 1_200))
  const kinds = drawKinds(context)
  const beganAt = new Date().toISOString()
  const told = await Promise.all(
    kinds.map(async ({ name, strike }, index) => {
      await sleep(index * 300)
      return `${name} (${await strike(context)})`
    })
  )
  const overAtMs = performance.now()

  assert.ok(node.service.isRunning, 'the supervisor goes on')
  let complaint = ''
  await eventually(
    'both ports are ready',
    async () => {
      const found = await findComplaint(node.service)
      if (found !== null) complaint = found
      return found === null
    },
    patienceMs
  )
  const readyMs = Math.round(performance.now() - overAtMs)
  times.readyMs = Math.max(times.readyMs, readyMs)
  watch.claim((tookMs) => {
    const figuresMs = readyMs + tookMs
    times.figuresMs = Math.max(times.figuresMs, figuresMs)
    options.print(
      `${String(number).padStart(3)}  ${beganAt}  ${told.join(' + ')}: ready after ${readyMs} ms${complaint === '' ? '' : ` (last ${complaint})`}, ` +
        `figures hold after ${figuresMs} ms`
    )
  })
  await watch.untilMayGoOn()
  await load.mintAhead(mintedAhead)
  return kinds.length
}

function drawKinds({ node, random }: FaultContext) {
  const possible = faultKinds.filter(
    ({ needs }) =>
      (needs !== 'warehouse server' || node.warehouse !== null) &&
      (needs !== 'small disk' || node.disk !== null)
  )
  const first = draw(possible, random)
  // Two of a kind would undo each other's work, and what is stopped cannot be started meanwhile.
  const others = possible.filter(
    ({ name }) => groupOf(name) !== groupOf(first.name) && !isOfProcesses(name, first.name)
  )
  return random.chance(pairShare) ? [first, draw(others, random)] : [first]
}

function groupOf(name: string): string {
  return name.split(' ')[0] ?? ''
}

function isOfProcesses(...names: readonly string[]): boolean {
  return names.every((name) => ['kill', 'stop'].includes(groupOf(name)))
}

function draw<Kind extends { readonly weight: number }>(
  kinds: readonly Kind[],
  random: Random
): Kind {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0)
  let rest = random.fraction() * total
  for (const kind of kinds) {
    rest -= kind.weight
    if (rest < 0) return kind
  }
  throw new Error('there is no fault to draw')
}

/** Null when both ports are ready. */
async function findComplaint(service: Service): Promise<string | null> {
  for (const url of [service.trackingUrl, service.campaignUrl]) {
    try {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })
      const text = await answer.text()
      if (answer.status !== 200) return text
    } catch (error) {
      return error instanceof Error ? error.name : String(error)
    }
  }
  return null
}

interface Ending {
  readonly node: FaultyNode
  readonly load: Load
  readonly count: number
  readonly times: Round['times']
}

async function conclude({ node, load, count, times }: Ending): Promise<RunResult> {
  let totals: Totals | undefined
  await eventually('the spool is empty', async () => {
    totals = await readTotals(node.service)
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
  const counted = totals?.countedPurchases ?? -1
  assert.ok(counted >= acknowledged.purchase, `${counted} of ${acknowledged.purchase} purchases`)
  assert.ok(counted <= acknowledged.purchase + unanswered.purchase, `${counted} purchases`)
  assert.equal(totals?.conflicts, 0)
  assert.equal(totals.setAside, 0)
  return {
    faultCount: count,
    acknowledged,
    unanswered,
    slowestReadyMs: times.readyMs,
    slowestFiguresMs: times.figuresMs,
  }
}
