// Processes that are killed or stopped.

import { setTimeout as sleep } from 'node:timers/promises'
import { signalProcess } from '../../helpers/service.ts'
import type { Service } from '../../helpers/service.ts'
import type { FaultyNode } from '../installation.ts'
import type { FaultContext, FaultKind } from './kind.ts'

const programs = ['engine', 'tracker'] as const
export type Program = (typeof programs)[number]

export const processKinds: readonly FaultKind[] = [
  kill('tracker'),
  kill('engine'),
  {
    name: 'kill supervisor',
    weight: 2,
    needs: [],
    targets: ['processes'],
    strike: async ({ installation, random }) => {
      const { name, service } = random.pick(installation.nodes)
      await service.kill()
      await service.start()
      return { told: `${name}, started again` }
    },
  },
  {
    name: 'kill all',
    weight: 2,
    needs: [],
    targets: ['processes'],
    strike: async ({ installation, random }) => {
      const { nodes } = installation
      const struck = random.chance(0.3) ? nodes : [random.pick(nodes)]
      await Promise.all(struck.map(async ({ service }) => await service.killAll()))
      await sleep(random.between(0, 500))
      await Promise.all(struck.map(async ({ service }) => await service.start()))
      return { told: `${struck.map(({ name }) => name).join(', ')}, started again` }
    },
  },
  stop('tracker'),
  stop('engine'),
  stop('supervisor'),
  stop('all'),
]

function kill(program: Program): FaultKind {
  return {
    name: `kill ${program}`,
    weight: 4,
    needs: [],
    targets: ['processes'],
    strike: async (context) => {
      await Promise.resolve()
      const { name, service } = pickNode(context, program)
      const pids = service.children(program)
      // None is there while the last one killed is being started again.
      if (pids.length === 0) return { told: `${name}, none was there` }
      const pid = context.random.pick(pids)
      signalProcess(pid, 'SIGKILL')
      return { told: `${name}, pid ${pid}` }
    },
  }
}

/** Every node has an engine process: one of trackers ships with it. */
export function pickNode({ installation, random }: FaultContext, program: Stoppable): FaultyNode {
  const { nodes, trackingNodes } = installation
  return random.pick(program === 'tracker' ? trackingNodes : nodes)
}

export const stoppables = ['tracker', 'engine', 'supervisor', 'all'] as const
export type Stoppable = (typeof stoppables)[number]

function stop(what: Stoppable): FaultKind {
  return {
    name: `stop ${what}`,
    weight: 1.5,
    needs: [],
    targets: ['processes'],
    strike: async (context) => {
      const { random } = context
      const { name, service } = pickNode(context, what)
      // Longer than 10 s now and then: after that a write to the spool is answered as a failure.
      const ms = random.chance(0.15) ? random.between(10_500, 12_500) : random.between(300, 5_000)
      const goOn = stopProcesses(findProcesses(service, what))
      await sleep(ms).finally(goOn)
      return { told: `${name}, for ${ms} ms` }
    },
  }
}

export function findProcesses(service: Service, what: Stoppable): readonly number[] {
  switch (what) {
    case 'tracker':
      return service.children('tracker').slice(0, 1)
    case 'engine':
      return service.children('engine')
    case 'supervisor':
      return [service.pid]
    case 'all':
      return [service.pid, ...programs.flatMap((program) => service.children(program))]
  }
}

/** Returns what lets them go on. */
export function stopProcesses(pids: readonly number[]): () => void {
  for (const pid of pids) signalProcess(pid, 'SIGSTOP')
  return () => {
    for (const pid of pids) signalProcess(pid, 'SIGCONT')
  }
}
