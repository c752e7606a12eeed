import { ServiceError } from '../errors.ts'
import type { Warehouse } from './warehouse.ts'

/**
 * Refuses a node whose identity secret differs from the one that the warehouse was created with: it would
 * recognise no shopper, and every purchase would silently lose its credit.
 */
export async function ensureSameIdentitySecret(
  warehouse: Warehouse,
  fingerprint: string
): Promise<void> {
  const name = 'identity-secret-fingerprint'
  const known = await readFirst(warehouse, name)
  if (known === null) {
    await warehouse.command(
      'INSERT INTO installation SELECT {name:String}, {fingerprint:String}, now64(6)',
      { name, fingerprint }
    )
  }
  // Read again: if two nodes begin at once, the first one decides for both.
  const decided = known ?? (await readFirst(warehouse, name))
  if (decided === fingerprint) return
  throw new ServiceError(
    'CONFIG_INVALID',
    `SHELFTRACE_SECRETS_FILE holds another identity secret (${fingerprint}) than the one that this ` +
      `warehouse was created with (${decided ?? 'unknown'}); use the secrets file of the installation`
  )
}

/** When the first node wrote into the warehouse. */
export async function readInstalledAtMs(warehouse: Pick<Warehouse, 'rows'>): Promise<number> {
  const [row] = await warehouse.rows<{ atMs: number }>(
    'SELECT toUnixTimestamp64Milli(min(written_at)) AS atMs FROM installation'
  )
  return row?.atMs ?? 0
}

async function readFirst(warehouse: Warehouse, name: string): Promise<string | null> {
  await warehouse.barrier(['installation'])
  const rows = await warehouse.rows<{ value: string }>(
    'SELECT value FROM installation WHERE name = {name:String} ORDER BY written_at, value LIMIT 1',
    { name }
  )
  return rows[0]?.value ?? null
}
