// A backup is a folder:
//
// manifest.json   describes the backup; written last, so a folder without it is incomplete
// manifest.hmac   proves that the writer of manifest.json had the secrets of the installation
// files.sha256    one line a file, as `sha256sum --check` reads it: digest, two blanks, path
// warehouse/      the folder of the warehouse as ClickHouse opens it, with the parts of one instant
// spool/          the segments of the spool at that instant, and how far each was shipped
//
// Paths are relative, with `/`. Secrets are never in it.

import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import { compileParser } from '../contract/validate.ts'
import { ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'

export const manifestName = 'manifest.json'
export const fileListName = 'files.sha256'
/** The file of the proof. One line: the HMAC-SHA-256 of `manifest.json`, in hex. */
export const proofName = 'manifest.hmac'
export const format = 1

/** A manifest has a few kilobytes, a proof 65 bytes. No longer list of files can be written, as it is made in one text. */
const bytesMax = {
  [manifestName]: 1_048_576,
  [proofName]: 1_024,
  [fileListName]: constants.MAX_STRING_LENGTH,
} as const

const count = Type.Integer({ minimum: 0 })

const manifestSchema = Type.Object({
  format: Type.Integer(),
  /** The versions of Shelftrace and of ClickHouse. */
  version: Type.String(),
  engineVersion: Type.String(),
  takenAt: Type.String(),
  /** Identify the secrets that a restored node needs, without giving them away. */
  identityFingerprint: Type.String(),
  trackingKeyIds: Type.Array(Type.String()),
  migrations: Type.Array(Type.String()),
  tables: Type.Array(Type.Object({ name: Type.String(), rowCount: count })),
  fileCount: count,
  bytes: count,
  /** The digest of the list of files, which has the digests of all other files. */
  fileListSha256: Type.String(),
})

export type Manifest = Immutable<Type.Static<typeof manifestSchema>>

const parseManifest = compileParser(manifestSchema)

/** Null if there is none, so the backup is incomplete. Throws BACKUP_INVALID if it is not one of ours. */
export function readManifest(folder: string): Manifest | null {
  const text = readManifestText(folder)
  return text === null ? null : parseManifestText(folder, text)
}

export function readManifestText(folder: string): string | null {
  return readOrNull(folder, manifestName)
}

export function parseManifestText(folder: string, text: string): Manifest {
  const parsed = parseManifest(parseJson(text))
  if (!parsed.ok) throw invalid(folder, `${manifestName} is damaged: ${parsed.messages.join('; ')}`)
  if (parsed.value.format !== format) {
    throw invalid(folder, `it has format ${parsed.value.format}; this version reads ${format}`)
  }
  return parsed.value
}

export interface ListedFile {
  readonly path: string
  readonly sha256: string
}

/** Any other path could lead out of the data folder, or to a file that ClickHouse reads as its settings. */
const name = String.raw`(?!\.{1,2}(?:/|$))[\w.%=-]+`
const table = String.raw`warehouse/store/[0-9a-f]{3}/[0-9a-f-]{36}/(?:\w+\.sql|format_version\.txt|${name}(?:/${name})+)`
const linePattern = new RegExp(
  String.raw`^([0-9a-f]{64}) {2}(warehouse/metadata/shelftrace\.sql|${table}|spool/${name})$`,
  'u'
)

export function formatFileList(files: readonly ListedFile[]): string {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${path}`)
  // A restore would refuse any other name, when it is too late.
  for (const line of lines) assert(linePattern.test(line), 'a file of a backup has a plain name')
  return lines.map((line) => `${line}\n`).join('')
}

/** Throws BACKUP_INVALID unless the list is the one that the manifest has the digest of. */
export function readFileList(folder: string, manifest: Manifest): readonly ListedFile[] {
  const text = readOrNull(folder, fileListName) ?? ''
  if (sha256Of(text) !== manifest.fileListSha256) {
    throw invalid(folder, `${fileListName} is not the one that was written`)
  }
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, sha256, path] = linePattern.exec(line) ?? []
      if (sha256 === undefined || path === undefined) {
        throw invalid(folder, `${fileListName} has a line that no backup has`)
      }
      return { path, sha256 }
    })
}

// The proof tells a backup of this installation from one that somebody else made or altered: a MAC over the
// manifest, which has the digest of the list of files, which has those of all files. Its key is derived from
// the identity secret, which a restore needs anyway and no backup holds.

export function deriveProofKey(identitySecret: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', identitySecret, '', 'shelftrace backup manifest', 32))
}

export function proofOf(key: Buffer, manifestText: string): string {
  return `${createHmac('sha256', key).update(manifestText).digest('hex')}\n`
}

export type Proof = 'right' | 'wrong' | 'missing'

export function checkProof(folder: string, key: Buffer, manifestText: string): Proof {
  const text = readOrNull(folder, proofName)
  if (text === null) return 'missing'
  const found = Buffer.from(text)
  const expected = Buffer.from(proofOf(key, manifestText))
  return found.length === expected.length && timingSafeEqual(found, expected) ? 'right' : 'wrong'
}

export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function invalid(folder: string, reason: string, cause?: unknown): ServiceError {
  return new ServiceError('BACKUP_INVALID', `the backup ${folder} cannot be restored: ${reason}`, {
    cause,
  })
}

/** Throws BACKUP_INVALID for what is no file, or a longer one than any that was written. */
function readOrNull(folder: string, own: keyof typeof bytesMax): string | null {
  const path = join(folder, own)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return null
  if (!found.isFile()) throw invalid(folder, `${own} is not a file`)
  const max = bytesMax[own]
  if (found.size > max) {
    throw invalid(
      folder,
      `${own} has ${found.size} bytes, and none that was written has more than ${max}`
    )
  }
  return readFileSync(path, 'utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser of manifests reports this like any other wrong shape.
    return null
  }
}
