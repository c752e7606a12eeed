// Ports that another program takes when a process that had one dies, and gives back after a time.

import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { signalProcess } from '../../helpers/service.ts'
import type { Service } from '../../helpers/service.ts'
import type { FaultKind } from './kind.ts'
import { pickNode } from './processes.ts'
import type { Program } from './processes.ts'

const takeAttemptsMax = 200
const takePauseMs = 10

export const portKinds: readonly FaultKind[] = [take('engine'), take('tracker')]

function take(program: Program): FaultKind {
  return {
    name: `port of ${program} taken`,
    weight: 1.5,
    needs: [],
    targets: ['processes', 'connections'],
    strike: async (context) => {
      const { random, portSeconds } = context
      const { name, service } = pickNode(context, program)
      // Now and then longer than any pause between two attempts of the node.
      const drawnMs = random.chance(0.2)
        ? random.between(8_000, 15_000)
        : random.between(500, 6_000)
      const ms = portSeconds === null ? drawnMs : portSeconds * 1_000
      const other = await takePort(service, program)
      if (other === null) return { told: `${name}, its port was not to be had` }
      await sleep(ms)
      await new Promise((resolve) => other.close(resolve))
      return { told: `${name}, for ${ms} ms` }
    },
  }
}

/** Kills whoever has the port until it is free for an instant. */
async function takePort(service: Service, program: Program): Promise<Server | null> {
  const url = program === 'engine' ? service.campaignUrl : service.trackingUrl
  for (let attempt = 0; attempt < takeAttemptsMax; attempt += 1) {
    // The trackers share theirs: it is free when none of them lives.
    for (const pid of service.children(program)) signalProcess(pid, 'SIGKILL')
    const server = await listen(Number(new URL(url).port))
    if (server !== null) return server
    await sleep(takePauseMs)
  }
  return null
}

async function listen(port: number): Promise<Server | null> {
  // A stranger, who understands nobody.
  const server = createServer((socket) => socket.destroy())
  return await new Promise((resolve) => {
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
