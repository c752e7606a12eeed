// What is in a batch with others and cannot be stored, or is too heavy for a statement. The others must
// count as if it were not there; it is set aside, and counts once its cause is mended.

import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../helpers/service.ts'
import { readStatus, replaySetAside } from '../figures.ts'
import { strikesAlone } from './kind.ts'
import type { FaultKind } from './kind.ts'

const looksAtSetAside = 3
const lookPauseMs = 2_000

interface Refusal {
  readonly what: string
  readonly table: string
  /** The products of a row, as an expression of the warehouse. */
  readonly gtins: string
}

/** A product that one table refuses: a step of its own fails. */
const refusals: readonly Refusal[] = [
  { what: 'ad event', table: 'ad_event', gtins: '[gtin]' },
  { what: 'delivery', table: 'delivery', gtins: 'line_gtin' },
  { what: 'attribution', table: 'attribution', gtins: 'arrayConcat(click_gtin, view_gtin)' },
]

export const batchKinds: readonly FaultKind[] = [
  ...refusals.map(refuse),
  {
    name: 'heavy purchase',
    weight: 1,
    needs: [],
    targets: strikesAlone,
    strike: async ({ load, random }) => {
      const adCount = random.between(50, 300)
      const lineCount = 1_000
      const name = `heavy-${random.between(0, 1_000_000_000)}`
      await load.shopSpecial({ name, adCount, lineCount, isRefused: false })
      return { told: `${lineCount} lines of a product whose ${adCount} ads were clicked` }
    },
  },
  {
    name: 'little memory',
    weight: 1,
    needs: ['warehouse server'],
    targets: strikesAlone,
    strike: async ({ installation, random, patienceMs }) => {
      const { warehouse } = installation
      // From what refuses nearly every statement to what refuses the large ones.
      const megabytes = random.between(5, 60)
      const ms = random.between(1_000, 6_000)
      await warehouse?.limit({ max_memory_usage: String(megabytes * 1_000_000) })
      await sleep(ms).finally(async () => await warehouse?.limit({}))
      // A statement that was under way goes on with the limit, and what it refuses is set aside then.
      let replayedCount = 0
      for (let look = 0; look < looksAtSetAside; look += 1) {
        await sleep(lookPauseMs)
        replayedCount += await replaySetAside(installation.engine, patienceMs)
      }
      return { told: `${megabytes} MB a statement for ${ms} ms, ${replayedCount} replayed` }
    },
  },
]

function refuse({ what, table, gtins }: Refusal): FaultKind {
  return {
    name: `refused ${what}`,
    weight: 1,
    needs: ['warehouse server'],
    targets: strikesAlone,
    strike: async ({ installation, load, random, patienceMs }) => {
      const number = random.between(0, 1_000_000_000)
      const name = `refused-${what.replace(' ', '-')}-${number}`
      // Each fault refuses its own product only: others of its kind may be mended while it lasts.
      const constraint = `stand_in_refuses_${number}`
      await installation.runStatement(
        `ALTER TABLE ${table} ADD CONSTRAINT ${constraint} CHECK NOT has(${gtins}, '${name}')`
      )
      const journey = await load.shopSpecial({ name, adCount: 1, lineCount: 1, isRefused: true })
      return {
        told: name,
        lasting: {
          faultCount: random.between(0, 2),
          end: async () => {
            await eventually(
              `${name} is shown among what was set aside`,
              async () => (await readStatus(installation.engine)).setAside > 0,
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
            await replaySetAside(installation.engine, patienceMs)
            journey.isRefused = false
          },
        },
      }
    },
  }
}
