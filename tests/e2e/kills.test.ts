import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../helpers/history.ts'
import { eventually, prepareService } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'
import { readFigures, Shoppers } from '../helpers/shoppers.ts'

const killCount = Number(process.env['SHELFTRACE_TEST_KILLS'] ?? 20)
const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
const targets = ['engine', 'tracker', 'supervisor'] as const

// The promise of the whole system: an answer of 200 survives whatever dies.
test(`after ${killCount} kills at random moments every acknowledged event counts once, none twice`, async (t) => {
  const random = seededRandom(seed)
  const service = await prepareService(t, { env: { SHELFTRACE_TRACKERS: '2' } })
  await service.start()
  const shoppers = await Shoppers.prepare(service, 60_000)
  shoppers.start(12)

  for (let kill = 0; kill < killCount; kill += 1) {
    await sleep(200 + random() * 1_500)
    await killOne(service, targets[Math.floor(random() * targets.length)]!)
  }
  await shoppers.stop()

  const { acknowledged } = shoppers
  t.diagnostic(`seed ${seed}: ${JSON.stringify(acknowledged)}`)
  assert.ok(acknowledged.purchases > killCount, 'the load went on between the kills')
  let figures: unknown
  await eventually('the figures hold what was acknowledged', async () => {
    figures = await readFigures(service)
    return isDeepStrictEqual(figures, acknowledged)
  }).catch(() => undefined)
  assert.deepEqual(figures, acknowledged, service.stderr.slice(-3_000))
})

async function killOne(service: Service, target: (typeof targets)[number]): Promise<void> {
  if (target === 'supervisor') {
    await service.kill()
    await service.start()
    return
  }
  const [pid] = service.children(target)
  // None is there while the last one killed is being started again.
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}
