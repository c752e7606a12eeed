import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KeptPages } from '../../src/reports/kept-pages.ts'

/** In a folder of its own, which goes with it. */
export function openKeptPages(): KeptPages {
  return new KeptPages({
    folder: mkdtempSync(join(tmpdir(), 'shelftrace-kept-')),
    clock: Date.now,
  })
}
