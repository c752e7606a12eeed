// `npm run test:faults -- --faults 300 --seed 7 --minutes 90 [--installation split] [--kinds kill,'slow readers']`
// Long form of tests/faults: each installation gets its share of the faults. Prints each fault as it is
// over; ends with 1 when a promise broke, and says which, when, and what was lost or doubled.

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { installationKinds } from '../tests/faults/installation.ts'
import type { InstallationKind } from '../tests/faults/installation.ts'
import type { FaultKind } from '../tests/faults/kinds/kind.ts'
import { faultKinds, findKinds } from '../tests/faults/kinds/kinds.ts'
import { runFaults } from '../tests/faults/run.ts'

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '90' },
    /** One or more of them, with commas; all when absent. */
    installation: { type: 'string', default: installationKinds.join(',') },
    /** Names or their first words, with commas; all when absent. */
    kinds: { type: 'string' },
    /** How long a taken port stays taken; drawn when absent. */
    'port-seconds': { type: 'string' },
    /** How long the service may take to be ready again and to show what it acknowledged. */
    'patience-seconds': { type: 'string', default: '600' },
  },
})

const seed = wholeNumber('seed', values.seed)
const faultCount = wholeNumber('faults', values.faults)
const endMs = Date.now() + wholeNumber('minutes', values.minutes) * 60_000
const kinds = readKinds(values.kinds)
const installations = readInstallations(values.installation).filter(
  (installation) =>
    installation !== 'embedded' || kinds.some(({ needs }) => !needs.includes('warehouse server'))
)
const patienceMs = wholeNumber('patience-seconds', values['patience-seconds']) * 1_000
const portText = values['port-seconds']
const portSeconds =
  portText === undefined ? {} : { portSeconds: wholeNumber('port-seconds', portText) }

const built = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(built.status ?? 1)

/** Reports of the installation under way. */
let closers: (() => Promise<void>)[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void closeAll().finally(() => process.exit(1)))
}

let struckCount = 0
for (const [index, installation] of installations.entries()) {
  // Faults and time that one installation leaves over go to the others.
  const share = 1 / (installations.length - index)
  struckCount += await strike(installation, {
    faultCount: Math.ceil((faultCount - struckCount) * share),
    seed: seed + index,
    deadlineMs: Date.now() + (endMs - Date.now()) * share,
  })
}
if (struckCount < faultCount) console.log(`--minutes ended the run before fault ${struckCount + 1}`)
console.log(`${struckCount} faults: nothing lost, nothing doubled, ready again each time`)

async function strike(
  installation: InstallationKind,
  options: { readonly faultCount: number; readonly seed: number; readonly deadlineMs: number }
): Promise<number> {
  const lifetime = { after: (close: () => Promise<void>) => void closers.push(close) }
  try {
    const result = await runFaults(lifetime, {
      ...options,
      ...portSeconds,
      installation,
      kinds,
      patienceMs,
      print: (line) => console.log(line),
    })
    console.log(JSON.stringify(result))
    return result.faultCount
  } catch (error) {
    // Told before the installation is closed, which may fail too.
    console.error(error)
    process.exitCode = 1
    throw error
  } finally {
    await closeAll()
  }
}

async function closeAll(): Promise<void> {
  const last = closers.toReversed()
  closers = []
  for (const close of last) await close()
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/u.test(text)) return Number(text)
  console.error(`--${name} must be a whole number`)
  process.exit(2)
}

function readInstallations(text: string): readonly InstallationKind[] {
  const words = text.split(',')
  const known = words.filter((word) => installationKinds.some((kind) => kind === word))
  if (known.length === words.length) return installationKinds.filter((kind) => known.includes(kind))
  console.error(`--installation must be one or more of ${installationKinds.join(',')}`)
  process.exit(2)
}

function readKinds(text: string | undefined): readonly FaultKind[] {
  try {
    return text === undefined ? faultKinds : findKinds(text.split(','))
  } catch (error) {
    console.error(`--kinds: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(2)
  }
}
