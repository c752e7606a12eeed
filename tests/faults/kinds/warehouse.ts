// What surrounds the processes and goes away for a time: the warehouse, the disk, readers of reports.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../scripts/demo/random.ts'
import type { StandInBehaviour } from '../../helpers/clickhouse-stand-in.ts'
import { signalProcess } from '../../helpers/service.ts'
import type { Service } from '../../helpers/service.ts'
import type { FaultKind } from './kind.ts'
import { stopProcesses } from './processes.ts'

export const warehouseKinds: readonly FaultKind[] = [
  behave('refuses connections', () => ({ kind: 'refuse-connections' })),
  behave('answers 503', () => ({ kind: 'answer', status: 503 })),
  behave('hangs', () => ({ kind: 'hang' })),
  behave('cuts answers', (random) => ({ kind: 'cut', afterBytes: random.between(0, 40) })),
  {
    name: 'warehouse stopped',
    weight: 1,
    needs: ['warehouse server'],
    targets: ['warehouse'],
    strike: async ({ installation: { warehouse }, random }) => {
      const ms = random.between(500, 6_000)
      const goOn = stopProcesses(warehouse === null ? [] : [warehouse.pid])
      await sleep(ms).finally(goOn)
      return { told: `for ${ms} ms` }
    },
  },
  {
    name: 'warehouse killed',
    weight: 1,
    needs: ['warehouse server'],
    targets: ['warehouse'],
    strike: async ({ installation, random }) => {
      if (installation.warehouse !== null) signalProcess(installation.warehouse.pid, 'SIGKILL')
      const ms = random.between(0, 3_000)
      await sleep(ms)
      await installation.restartWarehouse()
      return { told: `away for ${ms} ms` }
    },
  },
  {
    name: 'disk full',
    weight: 2,
    needs: ['small disk'],
    targets: ['disk'],
    strike: async ({ installation, random }) => {
      const { name, disk } = random.pick(installation.trackingNodes)
      const freeBytes = random.chance(0.5) ? 0 : random.between(0, 15_000_000)
      const ms = random.between(500, 5_000)
      disk?.fill({ freeBytes })
      await sleep(ms).finally(() => disk?.free())
      return { told: `${name}, ${freeBytes} bytes free for ${ms} ms` }
    },
  },
  {
    name: 'reports cut',
    weight: 1,
    needs: [],
    targets: ['reports'],
    strike: async ({ installation, random }) => {
      const cutsMs = Array.from({ length: 10 }, () => random.between(1, 200))
      await Promise.all(cutsMs.map((ms) => readHalfAReport(installation.engine, ms)))
      return { told: `after ${Math.min(...cutsMs)} to ${Math.max(...cutsMs)} ms` }
    },
  },
]

function behave(name: string, behaviour: (random: Random) => StandInBehaviour): FaultKind {
  return {
    name: `warehouse ${name}`,
    weight: 1.5,
    needs: ['warehouse server'],
    targets: ['warehouse'],
    strike: async ({ installation, random }) => {
      const ms = random.between(300, 6_000)
      await installation.warehouse?.behave(behaviour(random))
      try {
        await sleep(ms)
      } finally {
        await installation.warehouse?.behave({ kind: 'serve' })
      }
      return { told: `for ${ms} ms` }
    },
  }
}

async function readHalfAReport(service: Service, cutAfterMs: number): Promise<void> {
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
