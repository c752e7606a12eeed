// The SQL against the reference on any number of histories: `npm run compare -- [--histories 10000]
// [--seed 1] [--lag]`. Prints what was compared, and ends with exit code 1 at the first difference. With `--lag`, the
// steps read from a replica that lags.
import { parseArgs } from 'node:util'
import { compareAttribution } from '../tests/helpers/compare-attribution.ts'
import { openLaggingWarehouse } from '../tests/helpers/lagging-warehouse.ts'
import { openTestWarehouse } from '../tests/helpers/test-warehouse.ts'

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    lag: { type: 'boolean', default: false },
  },
})
const historyCount = Number(values.histories)
const seed = Number(values.seed)
// A warehouse of its own for each slice keeps the memory of this process flat.
const sliceMax = 5_000
const totals = { histories: 0, purchases: 0, lines: 0 }

for (let slice = 0; totals.histories < historyCount; slice += 1) {
  const closers: (() => Promise<void>)[] = []
  const lifetime = { after: (close: () => Promise<void>) => closers.push(close) }
  const sliceSeed = seed + slice * 1_000
  const comparison = await compareAttribution({
    ...(values.lag
      ? await openLagging(lifetime, sliceSeed)
      : { warehouse: await openTestWarehouse(lifetime) }),
    seed: sliceSeed,
    historyCount: Math.min(sliceMax, historyCount - totals.histories),
    // Every second slice with crowds so small that they occur. A slice can be repeated alone by its seed.
    crowdMax: Math.floor(sliceSeed / 1_000) % 2 === 0 ? 5_000 : 3,
  })
  for (const close of closers) await close()
  totals.histories += comparison.histories.length
  totals.purchases += comparison.purchaseCount
  totals.lines += comparison.lineCount
  process.stderr.write(`\r${totals.histories} of ${historyCount} histories`)
  if (comparison.differences.length > 0) {
    console.error(`\nseed ${sliceSeed}: ${comparison.differences.slice(0, 5).join('\n')}`)
    process.exit(1)
  }
}
console.log(
  `\nno difference: ${totals.histories} histories, ${totals.purchases} purchases, ${totals.lines} lines, seed ${seed}`
)

async function openLagging(
  lifetime: Parameters<typeof openLaggingWarehouse>[0],
  sliceSeed: number
) {
  const options = { seed: sliceSeed, hasBarriers: true }
  const { lagging, current } = await openLaggingWarehouse(lifetime, options)
  return { warehouse: current, steps: lagging, arrivalBatches: 8 }
}
