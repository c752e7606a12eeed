// The three packages, and what of `package.json` and `package-lock.json` the service's own is published with.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Workspaces with a manifest of their own. The service is packed from the root. */
export const libraryFolders = ['packages/client', 'packages/tracking-data'] as const

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
}

export interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dev?: boolean
  readonly link?: boolean
}

export interface Lock {
  readonly name: string
  readonly version: string
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export function readManifest(folder: string): Manifest {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return manifest
}

export function readLock(folder: string): Lock {
  const lock: Lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  return lock
}

const publishedFields = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'engines',
  'bin',
  'exports',
  'files',
  'dependencies',
  'optionalDependencies',
  'allowScripts',
] as const

/**
 * The manifest of the published service: nothing that only its source needs. Scripts among it would have npm
 * warn of a build that does not happen.
 */
export function publishedManifest(manifest: Manifest): Readonly<Record<string, unknown>> {
  const published = publishedFields.flatMap((field) => {
    const value: unknown = Reflect.get(manifest, field)
    return value === undefined ? [] : [[field, value] as const]
  })
  // Beside what the source has.
  const files = [...(manifest.files ?? []), 'tested-packages.json']
  return { ...Object.fromEntries(published), files }
}

/**
 * The versions that were tested, as `tested-packages.json`. `npm ci` follows it in the folder of the unpacked
 * package under the name `package-lock.json`, under which npm packs nothing.
 */
export function publishedLock(manifest: Manifest, lock: Lock): Lock {
  const { name, version, license, engines, bin, dependencies, optionalDependencies } =
    publishedManifest(manifest)
  const packages = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true
  )
  const root: object = { name, version, license, engines, bin, dependencies, optionalDependencies }
  return { ...lock, packages: Object.fromEntries([['', root], ...packages]) }
}
