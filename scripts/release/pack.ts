import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  libraryFolders,
  publishedManifest,
  readLock,
  readManifest,
  publishedLock,
} from './packages.ts'

export interface Packed {
  readonly name: string
  readonly version: string
  readonly path: string
  /** In the package, relative to its folder. */
  readonly files: readonly string[]
  readonly bytes: number
  readonly unpackedBytes: number
}

/** Packs what is built into a folder, which is made, and replaces packages that are there. */
export function packAll(folder: string): readonly Packed[] {
  mkdirSync(folder, { recursive: true })
  return [packService(folder), ...libraryFolders.map((library) => pack(library, folder))]
}

/** From a copy, since the published manifest is not the one of the source. */
function packService(folder: string): Packed {
  const copy = mkdtempSync(join(tmpdir(), 'shelftrace-pack-'))
  try {
    const manifest = readManifest('.')
    for (const file of manifest.files ?? []) cpSync(file, join(copy, file), { recursive: true })
    writeJson(join(copy, 'package.json'), publishedManifest(manifest))
    writeJson(join(copy, 'tested-packages.json'), publishedLock(manifest, readLock('.')))
    return pack(copy, folder)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function pack(from: string, folder: string): Packed {
  // An absolute path, since npm takes others for names of repositories.
  const args = ['pack', resolve(from), '--json', '--pack-destination', resolve(folder)]
  const output = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  // A list with one element, or, from npm 12 on, an object with one property.
  const [packed] = Object.values(JSON.parse(output) as Readonly<Record<string, PackedByNpm>>)
  if (packed === undefined) throw new Error(`npm packed nothing from ${from}`)
  return {
    name: packed.name,
    version: packed.version,
    path: join(folder, packed.filename),
    files: packed.files.map(({ path }) => path).toSorted(),
    bytes: packed.size,
    unpackedBytes: packed.unpackedSize,
  }
}

interface PackedByNpm {
  readonly name: string
  readonly version: string
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
