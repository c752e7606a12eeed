import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedWarehouse } from '../../src/warehouse/embedded.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'

interface Lifetime {
  after(close: () => Promise<void>): void
}

/** A migrated warehouse in a folder of its own, both gone when the test ends. */
export async function openTestWarehouse(t: Lifetime): Promise<Warehouse> {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-warehouse-'))
  const warehouse = openEmbeddedWarehouse({ path })
  t.after(async () => {
    await warehouse.close()
    rmSync(path, { recursive: true, force: true })
  })
  await migrate(warehouse)
  return warehouse
}
