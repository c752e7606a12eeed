// Clocks that are set under running processes, and processes that are suspended while theirs moves.
// All need a warehouse of its own clock: one in the engine reads the machine's, which stays.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../scripts/demo/random.ts'
import type { FaultyNode } from '../installation.ts'
import type { FaultContext, FaultKind } from './kind.ts'
import { findProcesses, pickNode, stopProcesses, stoppables } from './processes.ts'
import type { Stoppable } from './processes.ts'

/** On a busy machine one process sees the new clock long after another. */
const clockSpreadMs = 1_500

interface Range {
  readonly leastMs: number
  readonly mostMs: number
}

export const clockKinds: readonly FaultKind[] = [
  clock('clock a little off', within({ leastMs: 100, mostMs: 900 })),
  clock('clock off', within({ leastMs: 2_000, mostMs: 50_000 })),
  clock('clock far off', within({ leastMs: 61_000, mostMs: 120_000 })),
  // No event is acknowledged then: no day of the warehouse holds its receipt.
  clock('clock of another age', (random) => Date.UTC(random.pick([1985, 2110]), 0) - Date.now()),
  ...stoppables.map(suspend),
]

function clock(name: string, drawShift: (random: Random) => number): FaultKind {
  return {
    name,
    weight: 1,
    needs: ['warehouse server'],
    targets: ['clock'],
    strike: async (context) => {
      const { installation, random } = context
      const node = random.pick(installation.nodes)
      const shiftMs = drawShift(random)
      const ms = random.between(500, 6_000)
      const isOneTime = installation.nodes.length === 1
      await withClock(context, { node, shiftMs, isOneTime }, async () => {
        await sleep(ms)
      })
      return { told: `${node.name}, ${shiftMs} ms for ${ms} ms` }
    },
  }
}

/** As when a machine sleeps or is moved: it goes on with a clock that another one has set meanwhile. */
function suspend(what: Stoppable): FaultKind {
  return {
    name: `suspend ${what}`,
    weight: 1,
    needs: ['warehouse server'],
    targets: ['processes', 'clock'],
    strike: async (context) => {
      const { random } = context
      const node = pickNode(context, what)
      // Backwards not so far that events would be older than their ads.
      const shiftMs = random.chance(0.5)
        ? random.between(1_000, 7_200_000)
        : -random.between(1_000, 120_000)
      const stoppedMs = random.between(500, 8_000)
      // A machine that wakes up sets its clock right within seconds, mostly.
      const wrongMs = random.chance(0.5) ? 0 : random.between(500, 4_000)
      const goOn = stopProcesses(findProcesses(node.service, what))
      try {
        await withClock(context, { node, shiftMs, isOneTime: false }, async () => {
          await sleep(stoppedMs)
          goOn()
          await sleep(wrongMs)
        })
      } finally {
        goOn()
      }
      return {
        told: `${node.name}, for ${stoppedMs} ms, clock ${shiftMs} ms off and for ${wrongMs} ms more`,
      }
    },
  }
}

function within({ leastMs, mostMs }: Range): (random: Random) => number {
  return (random) => random.between(leastMs, mostMs) * (random.chance(0.5) ? 1 : -1)
}

interface ClockChange {
  readonly node: FaultyNode
  readonly shiftMs: number
  /** All processes that take events see the same clock soon after each change. */
  readonly isOneTime: boolean
}

/** Where nodes or stopped processes differ, journeys under way are uncertain for the whole of it. */
async function withClock(
  { ledger }: FaultContext,
  { node, shiftMs, isOneTime }: ClockChange,
  work: () => Promise<void>
): Promise<void> {
  ledger.beginClockChange()
  try {
    node.setClock(shiftMs)
    await sleep(clockSpreadMs)
    if (isOneTime) ledger.endClockChange()
    await work().finally(() => {
      if (isOneTime) ledger.beginClockChange()
    })
  } finally {
    node.setClock(0)
    await sleep(clockSpreadMs)
    ledger.endClockChange()
  }
}
