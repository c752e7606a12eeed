import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFaults } from './run.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)

// The promise of the whole system. `npm run test:faults` runs it for longer.
for (const { warehouse, faultCount } of [
  { warehouse: 'embedded', faultCount: 4 },
  { warehouse: 'server', faultCount: 4 },
] as const) {
  test(`through faults of a node with its warehouse as ${warehouse}, every acknowledged event counts once and nothing else counts`, async (t) => {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)

    const result = await runFaults(t, { seed, faultCount, warehouse, print })

    t.diagnostic(`seed ${seed}: ${JSON.stringify(result)}`)
    for (const line of lines) t.diagnostic(line)
    assert.ok(result.faultCount >= faultCount)
    assert.ok(result.acknowledged.purchase > faultCount, 'the load went on between the faults')
  })
}
