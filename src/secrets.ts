// The secrets of an installation, made at the first start unless given. The machines of one
// installation share one secrets file.

import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { adminKeyRule, isAdminKey } from './access/token.ts'
import { ServiceError } from './errors.ts'
import { holdsAnything } from './lib/holds-anything.ts'
import { makeFolder } from './lib/make-folder.ts'
import { syncFolder } from './lib/sync-folder.ts'
import { explainSystemError, systemCode } from './lib/system-error.ts'
// Not from the entry of the library: with it comes what only minting needs, 70 ms of every start.
import { createKeyRing, formatKeyRing, parseKeyRing } from './tracking-data/key-ring.ts'
import type { KeyRing } from './tracking-data/key-ring.ts'

export interface Secrets {
  /** User ids are hashed under it; 32 bytes. After a change, no known shopper is recognized. */
  readonly identitySecret: Buffer
  /** Distinguishes two identity secrets without giving either away. */
  readonly identityFingerprint: string
  readonly keyRing: KeyRing
  readonly adminKey: string
}

export interface SecretsSource {
  readonly dataDir: string
  readonly secretsFile: string
  readonly adminKey: string | null
}

const identitySecretBytes = 32
const adminKeyName = 'admin-key'
/** What a node makes in its data folder once it has secrets. */
const madeWithSecrets = ['identity-fingerprint', 'warehouse', 'spool'] as const

/**
 * Reads the secrets and makes those that are missing. Throws CONFIG_INVALID naming the file and the
 * field, also for a secrets file that is missing where one was used before.
 */
export function ensureSecrets(source: SecretsSource): Secrets {
  refuseLostSecrets(source)
  ensureFile(source.secretsFile, newSecrets)
  return {
    ...readSecretsFile(source.secretsFile),
    adminKey: source.adminKey ?? ensureAdminKey(join(source.dataDir, adminKeyName)),
  }
}

/** The files that `ensureSecrets` would make. */
export function listMissing({ dataDir, secretsFile, adminKey }: SecretsSource): readonly string[] {
  const wanted = [secretsFile, ...(adminKey === null ? [join(dataDir, adminKeyName)] : [])]
  return wanted.filter((path) => !existsSync(path))
}

/** Reads the secrets and makes none. Throws CONFIG_INVALID naming the file and the field. */
export function readSecretsFile(path: string): Omit<Secrets, 'adminKey'> {
  const { identitySecret, keyRing } = parseSecrets(path)
  return {
    identitySecret,
    identityFingerprint: createHash('sha256')
      .update('shelftrace identity secret')
      .update(identitySecret)
      .digest('hex')
      .slice(0, 16),
    keyRing,
  }
}

/**
 * New secrets would fit nothing in such a folder, and might be copied over the right ones later. A first start makes
 * the secrets before anything else, so one that was killed leaves nothing that this could mistake.
 */
function refuseLostSecrets({ dataDir, secretsFile }: SecretsSource): void {
  if (existsSync(secretsFile)) return
  const made = madeWithSecrets.find((name) => holdsAnything(join(dataDir, name)))
  if (made === undefined) return
  throw invalid(
    secretsFile,
    `is missing, and ${join(dataDir, made)} was made with it: put your copy of the file back, since nothing can replace it; ` +
      'a new installation needs an empty data folder'
  )
}

function newSecrets(): string {
  const keyRing: unknown = JSON.parse(formatKeyRing(createKeyRing()))
  const identitySecret = randomBytes(identitySecretBytes).toString('base64')
  return `${JSON.stringify({ identitySecret, keyRing }, null, 2)}\n`
}

function ensureAdminKey(path: string): string {
  ensureFile(path, () => `st_${randomBytes(32).toString('base64url')}\n`)
  const key = readSecretText(path).trim()
  if (!isAdminKey(key)) throw invalid(path, `must hold a key of ${adminKeyRule}`)
  return key
}

function parseSecrets(path: string): { identitySecret: Buffer; keyRing: KeyRing } {
  const value = readJson(path)
  if (typeof value !== 'object' || value === null) throw invalid(path, 'must be a JSON object')
  const text: unknown = Reflect.get(value, 'identitySecret')
  const identitySecret = typeof text === 'string' ? Buffer.from(text, 'base64') : null
  if (identitySecret?.length !== identitySecretBytes) {
    throw invalid(path, 'is not valid: /identitySecret must be 32 bytes in base64')
  }
  try {
    return { identitySecret, keyRing: parseKeyRing(Reflect.get(value, 'keyRing')) }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : 'is not a key ring'
    throw invalid(path, `is not valid: /keyRing ${message}`)
  }
}

function readJson(path: string): unknown {
  const text = readSecretText(path)
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the file's content, which is secret.
    throw invalid(path, 'must be JSON')
  }
}

/** Throws CONFIG_INVALID, naming the file, when it cannot be read or others may read it. */
export function readSecretText(path: string): string {
  try {
    const facts = statSync(path)
    // Its mode is that of a folder, so what is said of it would mislead.
    if (facts.isDirectory()) throw invalid(path, isFolder)
    refuseOpenMode(path, facts)
    // Some editors of Windows put a mark before a text.
    return readFileSync(path, 'utf8').replace(/^\uFEFF/u, '')
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw invalid(path, `cannot be read: ${explainSystemError(error)}`)
  }
}

const isFolder =
  'is a folder: Docker makes one where the file that is to be mounted is missing; remove it, and put the file there'

/**
 * Like ssh with its keys: a copy that others can read is no longer secret, and nobody would notice.
 * The group may read what belongs to root, which is how Kubernetes mounts secrets for an `fsGroup`.
 */
export function refuseOpenMode(
  path: string,
  { mode, uid }: { readonly mode: number; readonly uid: number }
): void {
  const allowed = uid === 0 ? 0o740 : 0o700
  if ((mode & 0o777 & ~allowed) === 0) return
  const shown = (mode & 0o777).toString(8).padStart(4, '0')
  throw invalid(
    path,
    `is open to others (mode ${shown}): chmod 600 ${path} (a mounted secret: defaultMode 0400, or 0440 and root as owner)`
  )
}

/** Several processes may start at once: the first one that links its complete file into place wins. */
function ensureFile(path: string, content: () => string): void {
  if (existsSync(path)) return
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    makeFolder(dirname(path))
    writeFileSync(draft, content(), { mode: 0o600, flush: true })
    linkSync(draft, path)
    chmodSync(path, 0o600)
    // Nothing that is made with the secrets may outlast them when the power fails.
    syncFolder(dirname(path))
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EEXIST') throw invalid(path, `cannot be made: ${explainSystemError(error)}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Removes what a process left that was killed while it made the secrets. Call it once the data folder is claimed:
 * then nobody else writes a draft into it.
 */
export function removeDrafts({ dataDir, secretsFile }: SecretsSource): void {
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name)
    const isDraft = [secretsFile, join(dataDir, adminKeyName)].some(
      (own) => path.startsWith(`${own}.`) && /^[0-9a-f]{12}$/u.test(path.slice(own.length + 1))
    )
    if (isDraft) rmSync(path, { force: true })
  }
}

function invalid(path: string, rule: string): ServiceError {
  return new ServiceError('CONFIG_INVALID', `the secrets file ${path} ${rule}`)
}
