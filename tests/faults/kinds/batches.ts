// What is in a batch with others and cannot be stored, or is too heavy for a statement. The others must
// count as if it were not there; it is set aside, and counts once its cause is mended.

import { eventually } from '../../helpers/service.ts'
import { readStatus } from '../figures.ts'
import type { Installation } from '../installation.ts'
import { strikesAlone } from './kind.ts'
import type { FaultContext, FaultKind } from './kind.ts'

const constraint = 'stand_in_refuses'

interface Refusal {
  readonly what: string
  readonly table: string
  /** What the table must not hold, as an expression of the warehouse. */
  readonly refused: string
}

/** Each beginning of a product's name is refused by one table: a step of its own fails. */
const refusals: readonly Refusal[] = [
  { what: 'ad event', table: 'ad_event', refused: `startsWith(gtin, 'refused-ad-event')` },
  {
    what: 'delivery',
    table: 'delivery',
    refused: `arrayExists(gtin -> startsWith(gtin, 'refused-delivery'), line_gtin)`,
  },
  {
    what: 'attribution',
    table: 'attribution',
    refused: `arrayExists(gtin -> startsWith(gtin, 'refused-attribution'), arrayConcat(click_gtin, view_gtin))`,
  },
]

export const batchKinds: readonly FaultKind[] = [
  ...refusals.map(refuse),
  {
    name: 'heavy purchase',
    weight: 1,
    needs: [],
    targets: strikesAlone,
    strike: async (context) => {
      const { adCount, lineCount } = await buyHeavily(context, { isRefused: false })
      return { told: `${lineCount} lines of a product whose ${adCount} ads were clicked` }
    },
  },
  {
    name: 'heavy purchase and little memory',
    weight: 1,
    needs: ['warehouse server'],
    targets: strikesAlone,
    strike: async (context) => {
      const { installation, random, patienceMs } = context
      const megabytes = random.between(150, 250)
      await installation.warehouse?.limit({ max_memory_usage: String(megabytes * 1_000_000) })
      const { journey, adCount, lineCount } = await buyHeavily(context, { isRefused: true })
      return {
        told: `${lineCount} lines, ${adCount} ads, ${megabytes} MB a statement`,
        lasting: {
          faultCount: 0,
          end: async () => {
            await installation.warehouse?.limit({})
            await replayAll(installation, patienceMs)
            journey.isRefused = false
          },
        },
      }
    },
  },
]

function refuse({ what, table, refused }: Refusal): FaultKind {
  return {
    name: `refused ${what}`,
    weight: 1,
    needs: ['warehouse server'],
    targets: strikesAlone,
    strike: async ({ installation, load, random, patienceMs }) => {
      const { setAside } = await readStatus(installation.engine)
      await installation.runStatement(
        `ALTER TABLE ${table} ADD CONSTRAINT IF NOT EXISTS ${constraint} CHECK NOT ${refused}`
      )
      const name = `refused-${what.replace(' ', '-')}-${random.between(0, 1_000_000_000)}`
      const journey = await load.shopSpecial({ name, adCount: 1, lineCount: 1, isRefused: true })
      return {
        told: name,
        lasting: {
          faultCount: random.between(0, 2),
          end: async () => {
            await eventually(
              `${name} is shown among what was set aside`,
              async () => (await readStatus(installation.engine)).setAside > setAside,
              patienceMs
            )
            await eventually(
              `the ${table} takes everything again`,
              async () => {
                const drop = `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${constraint}`
                await installation.runStatement(drop)
                return true
              },
              patienceMs
            )
            await replayAll(installation, patienceMs)
            journey.isRefused = false
          },
        },
      }
    },
  }
}

async function buyHeavily(
  { load, random }: FaultContext,
  { isRefused }: { readonly isRefused: boolean }
) {
  const adCount = random.between(50, 300)
  const lineCount = 1_000
  const name = `heavy-${random.between(0, 1_000_000_000)}`
  const journey = await load.shopSpecial({ name, adCount, lineCount, isRefused })
  return { journey, adCount, lineCount }
}

/** As an operator who has mended the cause. */
async function replayAll({ engine }: Installation, patienceMs: number): Promise<void> {
  await eventually(
    'what was set aside is shipped',
    async () => {
      const answer = await engine.admin('POST', '/admin/v1/set-aside/replay', { all: true })
      if (!answer.ok) throw new Error(`replay: ${answer.status} ${await answer.text()}`)
      return ((await answer.json()) as { remaining: number }).remaining === 0
    },
    patienceMs
  )
}
