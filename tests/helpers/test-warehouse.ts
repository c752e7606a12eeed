import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedWarehouse, type EmbeddedOptions } from '../../src/warehouse/embedded.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { recorded } from './recorder.ts'

interface Lifetime {
  after(close: () => Promise<void>): void
}

type Options = Omit<EmbeddedOptions, 'path'>

/** As ClickHouse does by itself: for tests that compare many figures, lest compiled expressions differ. */
export const compiledEarly: Options = { runsBeforeCompiled: 3 }

/** A migrated warehouse in a folder of its own, both gone when the test ends. */
export async function openTestWarehouse(t: Lifetime, options: Options = {}): Promise<Warehouse> {
  const warehouse = await openMigratedWarehouse(options)
  t.after(() => warehouse.close())
  return warehouse
}

/** The same for callers that close it themselves, such as the tests of a file that share one. */
export async function openMigratedWarehouse(options: Options = {}): Promise<Warehouse> {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-warehouse-'))
  copyMigrated(path)
  const warehouse = openEmbeddedWarehouse({ ...options, path })
  await migrate(warehouse)
  return {
    ...recorded(warehouse),
    close: async () => {
      await warehouse.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Most of a migration: scripts/test.ts migrates a folder once for all tests, which takes half a second of CPU. */
export function copyMigrated(path: string): void {
  const migrated = process.env['TEST_MIGRATED_WAREHOUSE']
  if (migrated !== undefined) cpSync(migrated, path, { recursive: true })
}

/** An empty one, for tests of an upgrade. */
export function openUnmigratedWarehouse(t: Lifetime): Warehouse {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-warehouse-'))
  const warehouse = openEmbeddedWarehouse({ path })
  t.after(async () => {
    await warehouse.close()
    rmSync(path, { recursive: true, force: true })
  })
  return warehouse
}
