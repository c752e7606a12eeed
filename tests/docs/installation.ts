// The folder that a reader of the guides would type in: the source, with `data` in it, and a service
// that runs from it. Addresses, keys and tokens that the guides show are replaced by real ones.

import { mkdtempSync, rmSync, symlinkSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { prepareService } from '../helpers/service.ts'
import type { Service } from '../helpers/service.ts'

interface Lifetime {
  after(fn: () => Promise<void> | void): void
}

export interface Installation {
  readonly folder: string
  readonly service: Service
}

/** Not started yet. Its service keeps what it has in `data`, as one started in the folder would. */
export async function prepareInstallation(t: Lifetime): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-guides-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'shelftrace'))
  symlinkSync(resolve('node_modules/@shelftrace'), join(folder, 'node_modules', '@shelftrace'))
  symlinkSync(resolve('dist'), join(folder, 'dist'))
  symlinkSync(resolve('docs'), join(folder, 'docs'))
  // Attribution need not wait for events of other trackers here.
  const env = { SHELFTRACE_SETTLE_MS: '0', SHELFTRACE_TRACKERS: '1' }
  const service = await prepareService(t, { dataDir: join(folder, 'data'), env })
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return { folder, service }
}

export interface Replacements {
  readonly trackingUrl: string
  readonly campaignUrl: string
  readonly key?: string
  readonly keyId?: string
  readonly token?: string
}

/** In what is run the examples become real; in what is shown as an answer as well. */
export function replaceExamples(text: string, real: Replacements): string {
  return text
    .replaceAll('http://127.0.0.1:8080', real.trackingUrl)
    .replaceAll('http://127.0.0.1:8081', real.campaignUrl)
    .replaceAll('=st_…', `=${real.key ?? 'st_…'}`)
    .replaceAll('revoke key_…', `revoke ${real.keyId ?? 'key_…'}`)
    .replaceAll('/AWqH…', `/${real.token ?? 'AWqH…'}`)
}
