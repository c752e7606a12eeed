// The demo is played once in a run of all tests: the first file that asks for a plan plays it, and each opens a copy.
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { claim } from '../../scripts/claim.ts'
import {
  openCopy,
  openShowcase,
  playDemo,
  type Invited,
  type Showcase,
  type ShowcasePlan,
} from '../../scripts/demo/showcase.ts'
import { eventually } from '../helpers/service.ts'

/** The first file may wait for its turn on a machine that is busy with others. */
const patienceMs = 300_000

/** What a test changes there is seen by no other file. */
export async function openPlayed(plan: ShowcasePlan): Promise<Showcase> {
  // Set by scripts/test.ts. What an earlier run played would be of another day.
  const folder = process.env['TEST_PLAYED_DEMOS']
  if (folder === undefined) return await openShowcase(plan)
  const place = join(folder, `${plan.shoppers}-${plan.days}-${plan.adsPerDay}`)
  const dataDir = join(place, 'data')
  const result = join(place, 'invited.json')
  if (claim(place)) {
    const invited = await playDemo(plan, dataDir)
    await writeFile(`${result}.part`, JSON.stringify(invited))
    await rename(`${result}.part`, result)
  }
  await eventually(
    'the demo is played; if not, the test file that plays it says why',
    async () => existsSync(result),
    patienceMs
  )
  return await openCopy(dataDir, JSON.parse(await readFile(result, 'utf8')) as Invited)
}
