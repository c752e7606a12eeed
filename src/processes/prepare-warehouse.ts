// Prepares the warehouse before an engine uses it: checks that it is fit, migrates it to the newest
// schema, and checks that this identity secret belongs to it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { IdentityCheck } from './identity-check.ts'
import type { Config } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { describe } from './child.ts'
import { ensureSameIdentitySecret } from '../warehouse/installation.ts'
import { migrate } from '../warehouse/migrate.ts'
import { ensureFitWarehouse } from '../warehouse/requirements.ts'
import type { WarehouseLanes } from '../warehouse/warehouse.ts'

const pauses = { firstMs: 250, maxMs: 5_000 } as const

interface PrepareDeps {
  readonly lanes: Pick<WarehouseLanes, 'pipeline' | 'adopt'>
  readonly config: Pick<Config, 'dataDir' | 'roles' | 'warehouseUrls'>
  readonly identityFingerprint: string
  readonly log: Logger
  /** Called each time that the warehouse is not there yet. */
  readonly onWait: () => void
}

/** Waits for a warehouse that is away at start; meanwhile the trackers take events. */
export async function prepareWarehouse(deps: PrepareDeps): Promise<void> {
  const { lanes, config, identityFingerprint } = deps
  const { pipeline: warehouse } = lanes
  const isWaitedFor = canGoOnWithout(deps) ? isAwayOrUnfit : isAway
  const addresses = config.warehouseUrls?.length ?? 1
  const topology = await untilDone(deps, isWaitedFor, () =>
    ensureFitWarehouse({ warehouse, addresses })
  )
  lanes.adopt(topology)
  await untilDone(deps, isAway, async () => {
    await migrate(warehouse, undefined, topology)
    // Every insert of events reads it, and whoever migrated first has written it.
    await warehouse.barrier(['ad_event_key_rule'])
    await ensureSameIdentitySecret(warehouse, identityFingerprint)
  })
}

/**
 * Shipping into an unfit warehouse would be as wrong as attributing in it. But if this process ended,
 * the node would end too. On a node of trackers that takes events already, they can wait in the spool
 * instead.
 */
function canGoOnWithout({ config, identityFingerprint }: PrepareDeps): boolean {
  if (config.roles.includes('engine')) return false
  return new IdentityCheck(config.dataDir, identityFingerprint).isKnown()
}

async function untilDone<Result>(
  { log, onWait }: PrepareDeps,
  isWaitedFor: (error: unknown) => boolean,
  work: () => Promise<Result>
): Promise<Result> {
  for (let pauseMs: number = pauses.firstMs; ; pauseMs = Math.min(pauseMs * 2, pauses.maxMs)) {
    try {
      return await work()
    } catch (error) {
      if (!isWaitedFor(error)) throw error
      onWait()
      const reason = describe(error)
      if (isAway(error)) log.warn({ reason, pauseMs }, 'the warehouse cannot be reached yet')
      else log.error({ reason, pauseMs }, 'nothing is shipped, events wait in the spool')
      await sleep(pauseMs)
    }
  }
}

function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'WAREHOUSE_UNAVAILABLE'
}

function isAwayOrUnfit(error: unknown): boolean {
  return isAway(error) || (error instanceof ServiceError && error.code === 'CONFIG_INVALID')
}
