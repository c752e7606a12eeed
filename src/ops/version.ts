import { readFileSync } from 'node:fs'

const manifest: unknown = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
)

/** The version of the package, the same from the sources and as built. */
export const version = String(
  typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, 'version') : 'unknown'
)
