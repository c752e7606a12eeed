// Hostile input against a service in processes of its own: docs/hostile-input.md says what is sent and
// what is asked of every answer.
import { parseArgs } from 'node:util'
import { prepareService } from '../tests/helpers/service.ts'
import { fuzz, fuzzEnvironment, type FuzzReport } from '../tests/fuzz/run.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '400000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    only: { type: 'string' },
  },
})
const requests = wholeNumber('--requests', values.requests)
const seed = wholeNumber('--seed', values.seed)
const from = wholeNumber('--from', values.from)
const only = values.only === undefined ? undefined : wholeNumber('--only', values.only)
const memoryShareMax = 0.1

const closers: (() => Promise<void>)[] = []
const service = await prepareService(
  { after: (close) => closers.push(close) },
  { env: fuzzEnvironment }
)
try {
  await service.start()
  const report = await fuzz(service, {
    requests,
    from,
    seed,
    ...(only !== undefined && { only }),
    onProgress: (line) => console.log(line),
  })
  print(report)
  process.exitCode = isGood(report) ? 0 : 1
} finally {
  for (const close of closers) await close()
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  console.error(`${name} must be a whole number, got "${text}"`)
  process.exit(2)
}

function print(report: FuzzReport): void {
  for (const { index, what, faults, request, answer } of report.findings) {
    console.log(
      `\n--- request ${index}: ${what}\n${faults.join('\n')}\n>>> ${request}\n<<< ${answer}`
    )
  }
  for (const [what, counts] of report.statuses) {
    const shown = [...counts].toSorted(([left], [right]) => left - right)
    const count = shown.reduce((sum, [, times]) => sum + times, 0)
    const meanMs = ((report.waitedMs.get(what) ?? 0) / count).toFixed(1)
    const text = shown.map(([status, times]) => `${status} x ${times}`).join(', ')
    console.log(`${what}: ${text} (${meanMs} ms each)`)
  }
  const failures = [...report.statuses.values()].flatMap((counts) => Array.from(counts))
  const failed = failures
    .filter(([status]) => status >= 500)
    .reduce((sum, [, count]) => sum + count, 0)
  console.log(`${report.requests} requests in ${Math.round(report.seconds)} s, seed ${seed}`)
  console.log(`${failed} answers of 5xx, ${report.findings.length} findings`)
  console.log(`processes that ended: ${report.restarted.join(', ') || 'none'}`)
  for (const { process: name, settledMiB, endMiB } of report.memory) {
    const share = ((endMiB / settledMiB - 1) * 100).toFixed(1)
    console.log(`${name}: settled at ${settledMiB} MiB, ended at ${endMiB} MiB (${share} %)`)
  }
  if (report.findings.length > 0) console.log(service.stderr.slice(-5_000))
}

function isGood({ findings, restarted, memory }: FuzzReport): boolean {
  const isSteady = memory.every(
    ({ settledMiB, endMiB }) => endMiB <= settledMiB * (1 + memoryShareMax)
  )
  return findings.length === 0 && restarted.length === 0 && isSteady
}
