import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedWarehouse } from '../../src/warehouse/embedded.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'

/** One per test file: a folder belongs to one process, and a start costs a second. */
export async function openTestWarehouse(): Promise<Warehouse> {
  const path = await mkdtemp(join(tmpdir(), 'shelftrace-catalog-'))
  const warehouse = openEmbeddedWarehouse({ path })
  await migrate(warehouse)
  return {
    ...warehouse,
    close: async () => {
      await warehouse.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}
