// The settings of the warehouse. No fault repeats an address, which may hold a password.

import type { ConfigReader } from './config-reader.ts'
import { isLoopback } from './lib/loopback.ts'
import type { Quorum } from './warehouse/topology.ts'

export interface WarehouseConfig {
  /** Null: the warehouse runs in process, inside the data folder. */
  readonly warehouseUrls: readonly string[] | null
  /** Of inserts into a cluster. */
  readonly warehouseQuorum: Quorum
}

export function readWarehouse(reader: ConfigReader): WarehouseConfig {
  const warehouseUrls = readUrls(reader)
  if (warehouseUrls === null) refuseServerSettings(reader)
  return { warehouseUrls, warehouseQuorum: readQuorum(reader) }
}

/** Whoever sets these means a server: without its address the node would begin a warehouse of its own. */
function refuseServerSettings(reader: ConfigReader): void {
  for (const name of ['SHELFTRACE_WAREHOUSE_QUORUM', 'SHELFTRACE_TRUST_WAREHOUSE_NETWORK']) {
    if (['', 'auto', 'false', '0'].includes(reader.text(name, ''))) continue
    reader.faults.push(`SHELFTRACE_WAREHOUSE_URL must be set where ${name} is`)
  }
}

/** Where an address begins: a password may hold a comma. */
const nextAddress = /,(?=\s*https?:\/\/)/u

/** The most replicas that make sense. */
const addressesMax = 16

function readUrls(reader: ConfigReader): readonly string[] | null {
  const name = 'SHELFTRACE_WAREHOUSE_URL'
  const urls = reader.secretUrls(name, nextAddress)
  if (urls === null) return null
  const places = urls.map((url) => new URL(url))
  if (urls.length > addressesMax) {
    reader.faults.push(`${name} must have at most ${addressesMax} addresses`)
  }
  if (new Set(places.map(({ host }) => host)).size !== urls.length) {
    reader.faults.push(`${name} must name each host and port once`)
  }
  if (new Set(places.map(({ pathname }) => pathname)).size !== 1) {
    reader.faults.push(`${name} must name the same database in every address`)
  }
  return urls
}

function readQuorum(reader: ConfigReader): Quorum {
  const name = 'SHELFTRACE_WAREHOUSE_QUORUM'
  const text = reader.text(name, 'auto')
  const count = /^\d{1,2}$/u.test(text) ? Number(text) : 0
  if (text !== 'auto' && (count < 1 || count > addressesMax)) {
    reader.fault(name, `must be "auto" or an integer from 1 to ${addressesMax}`, text)
  }
  return text === 'auto' ? 'auto' : count
}

export function refuseClearWarehouse(reader: ConfigReader, config: WarehouseConfig): void {
  const isTrusted = reader.flag('SHELFTRACE_TRUST_WAREHOUSE_NETWORK')
  if (config.warehouseUrls === null || isTrusted) return
  if (!config.warehouseUrls.some(isClear)) return
  reader.faults.push(
    'SHELFTRACE_WAREHOUSE_URL must begin with https:// unless the host is a loopback address, or ' +
      'SHELFTRACE_TRUST_WAREHOUSE_NETWORK=true says that nobody else is on the network in between: ' +
      'the password and the purchases must not travel in the clear'
  )
}

function isClear(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}
