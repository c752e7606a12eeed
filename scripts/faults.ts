// `npm run test:faults -- --faults 200 --seed 7 --minutes 60 [--warehouse embedded|server]`
// Long form of tests/faults: half of the faults strike a node that holds its warehouse in process, half
// one whose warehouse is a server. Prints each fault as it is over; ends with 1 when a promise broke.

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { runFaults } from '../tests/faults/run.ts'
import type { WarehouseKind } from '../tests/faults/node.ts'

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '90' },
    warehouse: { type: 'string' },
  },
})

const seed = wholeNumber('seed', values.seed)
const faultCount = wholeNumber('faults', values.faults)
const deadlineMs = Date.now() + wholeNumber('minutes', values.minutes) * 60_000
const warehouses = readWarehouses(values.warehouse)

const built = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(built.status ?? 1)

let struckCount = 0
for (const [index, warehouse] of warehouses.entries()) {
  const restCount = faultCount - struckCount
  const share = Math.ceil(restCount / (warehouses.length - index))
  console.log(`${share} faults, warehouse ${warehouse}, seed ${seed + index}`)
  struckCount += await strike(warehouse, { faultCount: share, seed: seed + index })
}
console.log(`${struckCount} faults: nothing lost, nothing doubled`)

async function strike(
  warehouse: WarehouseKind,
  options: { readonly faultCount: number; readonly seed: number }
): Promise<number> {
  const closers: (() => Promise<void>)[] = []
  const lifetime = { after: (close: () => Promise<void>) => void closers.push(close) }
  try {
    const result = await runFaults(lifetime, {
      ...options,
      warehouse,
      deadlineMs,
      print: (line) => console.log(line),
    })
    console.log(JSON.stringify(result))
    return result.faultCount
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/u.test(text)) return Number(text)
  console.error(`--${name} must be a whole number`)
  process.exit(2)
}

function readWarehouses(text: string | undefined): readonly WarehouseKind[] {
  if (text === undefined) return ['embedded', 'server']
  if (text === 'embedded' || text === 'server') return [text]
  console.error('--warehouse must be embedded or server')
  process.exit(2)
}
