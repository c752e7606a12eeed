// Everything that is made to fail, one entry per kind. Each resolves when the fault is over: what is
// stopped goes on, what was taken away is back. What the service makes of it is for the run to judge.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../scripts/demo/random.ts'
import type { StandInBehaviour } from '../helpers/clickhouse-stand-in.ts'
import { signalProcess } from '../helpers/service.ts'
import type { Ledger } from './ledger.ts'
import type { FaultyNode } from './node.ts'

export interface FaultContext {
  readonly node: FaultyNode
  readonly warehouseFolder: string
  readonly ledger: Ledger
  readonly random: Random
}

interface FaultKind {
  readonly name: string
  /** How often it is drawn beside the others. */
  readonly weight: number
  readonly needs: 'nothing' | 'warehouse server' | 'small disk'
  /** Resolves with what tells this one from others of its kind. */
  readonly strike: (context: FaultContext) => Promise<string>
}

const programs = ['engine', 'tracker'] as const

export const faultKinds: readonly FaultKind[] = [
  kill('tracker'),
  kill('engine'),
  {
    name: 'kill supervisor',
    weight: 2,
    needs: 'nothing',
    strike: async ({ node }) => {
      await node.service.kill()
      await node.service.start()
      return 'started again'
    },
  },
  {
    name: 'kill all',
    weight: 2,
    needs: 'nothing',
    strike: async ({ node, random }) => {
      await node.service.killAll()
      await sleep(random.between(0, 500))
      await node.service.start()
      return 'started again'
    },
  },
  stop('tracker', ({ service }) => service.children('tracker').slice(0, 1)),
  stop('engine', ({ service }) => service.children('engine')),
  stop('supervisor', ({ service }) => [service.pid]),
  stop('all', ({ service }) => [
    service.pid,
    ...programs.flatMap((program) => service.children(program)),
  ]),
  warehouse('refuses connections', () => ({ kind: 'refuse-connections' })),
  warehouse('answers 503', () => ({ kind: 'answer', status: 503 })),
  warehouse('hangs', () => ({ kind: 'hang' })),
  warehouse('cuts answers', (random) => ({ kind: 'cut', afterBytes: random.between(0, 40) })),
  {
    name: 'warehouse stopped',
    weight: 1,
    needs: 'warehouse server',
    strike: async ({ node, random }) => {
      const pids = node.warehouse === null ? [] : [node.warehouse.pid]
      return await stopFor(pids, random.between(500, 6_000))
    },
  },
  {
    name: 'warehouse killed',
    weight: 1,
    needs: 'warehouse server',
    strike: async ({ node, random, warehouseFolder }) => {
      if (node.warehouse !== null) signalProcess(node.warehouse.pid, 'SIGKILL')
      const ms = random.between(0, 3_000)
      await sleep(ms)
      await node.restartWarehouse({ folder: warehouseFolder })
      return `away for ${ms} ms`
    },
  },
  {
    name: 'disk full',
    weight: 2,
    needs: 'small disk',
    strike: async ({ node, random }) => {
      const freeBytes = random.chance(0.5) ? 0 : random.between(0, 15_000_000)
      const ms = random.between(500, 5_000)
      node.disk?.fill({ freeBytes })
      try {
        await sleep(ms)
      } finally {
        node.disk?.free()
      }
      return `${freeBytes} bytes free for ${ms} ms`
    },
  },
  {
    name: 'reports cut',
    weight: 1,
    needs: 'nothing',
    strike: async ({ node, random }) => {
      const cutsMs = Array.from({ length: 10 }, () => random.between(1, 200))
      await Promise.all(cutsMs.map((ms) => readHalfAReport(node, ms)))
      return `after ${Math.min(...cutsMs)} to ${Math.max(...cutsMs)} ms`
    },
  },
  clock('clock a little off', { leastMs: 100, mostMs: 900 }),
  clock('clock off', { leastMs: 2_000, mostMs: 50_000 }),
  clock('clock far off', { leastMs: 61_000, mostMs: 120_000 }),
]

function kill(program: (typeof programs)[number]): FaultKind {
  return {
    name: `kill ${program}`,
    weight: 4,
    needs: 'nothing',
    strike: async ({ node, random }) => {
      await Promise.resolve()
      const pids = node.service.children(program)
      // None is there while the last one killed is being started again.
      if (pids.length === 0) return 'none was there'
      const pid = random.pick(pids)
      signalProcess(pid, 'SIGKILL')
      return `pid ${pid}`
    },
  }
}

function stop(what: string, find: (node: FaultyNode) => readonly number[]): FaultKind {
  return {
    name: `stop ${what}`,
    weight: 1.5,
    needs: 'nothing',
    strike: async ({ node, random }) => {
      // Longer than 10 s now and then: after that a write to the spool is answered as a failure.
      const ms = random.chance(0.15) ? random.between(10_500, 12_500) : random.between(300, 5_000)
      return await stopFor(find(node), ms)
    },
  }
}

async function stopFor(pids: readonly number[], ms: number): Promise<string> {
  for (const pid of pids) signalProcess(pid, 'SIGSTOP')
  try {
    await sleep(ms)
  } finally {
    for (const pid of pids) signalProcess(pid, 'SIGCONT')
  }
  return `for ${ms} ms`
}

function warehouse(name: string, behaviour: (random: Random) => StandInBehaviour): FaultKind {
  return {
    name: `warehouse ${name}`,
    weight: 1.5,
    needs: 'warehouse server',
    strike: async ({ node, random }) => {
      const ms = random.between(300, 6_000)
      await node.warehouse?.behave(behaviour(random))
      try {
        await sleep(ms)
      } finally {
        await node.warehouse?.behave({ kind: 'serve' })
      }
      return `for ${ms} ms`
    },
  }
}

/** Against a warehouse in the engine there is nothing to differ from: it reads the machine's clock. */
function clock(
  name: string,
  { leastMs, mostMs }: { readonly leastMs: number; readonly mostMs: number }
): FaultKind {
  return {
    name,
    weight: 1,
    needs: 'warehouse server',
    strike: async ({ node, random, ledger }) => {
      const shiftMs = random.between(leastMs, mostMs) * (random.chance(0.5) ? 1 : -1)
      const ms = random.between(500, 6_000)
      await setClock({ node, ledger }, shiftMs)
      try {
        await sleep(ms)
      } finally {
        await setClock({ node, ledger }, 0)
      }
      return `${shiftMs} ms for ${ms} ms`
    },
  }
}

/** On a busy machine one process sees the new clock long after another. */
const clockSpreadMs = 1_500

/** Journeys are noted until every process has seen the new clock. */
async function setClock(
  { node, ledger }: Pick<FaultContext, 'node' | 'ledger'>,
  shiftMs: number
): Promise<void> {
  node.setClock(shiftMs)
  const untilMs = performance.now() + clockSpreadMs
  do {
    ledger.noteClockStep()
    await sleep(20)
  } while (performance.now() < untilMs)
  ledger.noteClockStep()
}

async function readHalfAReport({ service }: FaultyNode, cutAfterMs: number): Promise<void> {
  const day = new Date().toISOString().slice(0, 10)
  const reading = await fetch(`${service.campaignUrl}/v2/advertisers/1/reports/spa/product.csv`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ startDate: day, endDate: day, attributionProfile: 'CLK_14_DAYS' }),
    signal: AbortSignal.timeout(cutAfterMs),
  }).catch(() => null)
  // Cut in the body as well, when the answer came before the cut.
  await reading?.body?.cancel().catch(() => undefined)
}
