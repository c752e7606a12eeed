import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultKinds } from './kinds/kinds.ts'
import { runFaults } from './run.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)

// The promise of the whole system. `npm run test:faults` runs it for longer.
for (const installation of ['embedded', 'server', 'split'] as const) {
  test(`through faults of an installation with its parts as ${installation}, every acknowledged event counts once and nothing else counts`, async (t) => {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const faultCount = 3

    const result = await runFaults(t, { seed, faultCount, installation, kinds: faultKinds, print })

    t.diagnostic(`seed ${seed}: ${JSON.stringify(result)}`)
    for (const line of lines) t.diagnostic(line)
    assert.ok(result.faultCount >= faultCount)
    assert.ok(result.acknowledged.purchase > faultCount, 'the load went on between the faults')
  })
}
