// Packages as they are published, and npm to install them: with each Node that is there, from a registry of this
// process, which has what the lock file names as `npm ci` left it in npm's cache.

import { execFile, execFileSync } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { tmpdir } from 'node:os'
import { packAll, type Packed } from '../../scripts/release/pack.ts'
import { readLock } from '../../scripts/release/packages.ts'

interface Lifetime {
  after(fn: () => Promise<void> | void): void
}

interface Locked {
  readonly name?: string
  readonly version: string
  readonly integrity?: string
  readonly link?: boolean
}

export interface Node {
  readonly name: string
  readonly path: string
  /** Why it cannot be tried, or false. */
  readonly skip: string | false
}

/** The oldest Node and those that are recommended, of which CI has its own beside the one that runs it. */
export const nodes: readonly Node[] = ['20', '22', '24'].map((major) => {
  const path = resolve(`.ci/nodes/node_modules/node-${major}/bin/node`)
  const skip = existsSync(path)
    ? false
    : `${path} is missing; npm ci --prefix .ci/nodes installs it`
  return { name: `Node ${major}`, path, skip }
})

const cacheFolder = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
const stored = readLocked()
const uncached = stored.find(({ hex }) => !existsSync(cached(hex)))

/** Why nothing can be installed, or false. */
export const skip: string | false =
  uncached === undefined ? false : `npm's cache lacks ${uncached.name}; npm ci fetches it`

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Run {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

export async function runNode(
  node: string,
  args: readonly string[],
  { cwd, env = {} }: Run
): Promise<Ran> {
  return await new Promise((done) => {
    const options = { cwd, env: { PATH: `${dirname(node)}:/usr/bin:/bin`, ...env } }
    execFile(node, args, options, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
  })
}

/** Runs npm with this Node, as in an account that has no settings, no cache and no other registry. */
export async function runNpm(
  node: string,
  args: readonly string[],
  { cwd, registry }: { readonly cwd: string; readonly registry: string }
): Promise<Ran> {
  const home = mkdtempSync(join(tmpdir(), 'shelftrace-home-'))
  const env = {
    HOME: home,
    npm_config_registry: registry,
    // What is new and where the money goes is told at random times.
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
  }
  try {
    return await runNode(node, [npmProgram(), ...args], { cwd, env })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** An empty folder, removed after the test. */
export function emptyFolder(t: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-packages-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** By name. Packs what is built. */
export function packForTest(t: Lifetime): ReadonlyMap<string, Packed> {
  return new Map(packAll(emptyFolder(t)).map((packed) => [packed.name, packed]))
}

/**
 * The address of a registry with the packages of the lock file. It pretends that newer versions of some
 * appeared. Who wants one fails, since it cannot be fetched.
 */
export async function startRegistry(
  t: Lifetime,
  isRenewed: (name: string) => boolean = () => false
): Promise<string> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    const tarball = /^-\/(?<hex>[0-9a-f]{128})\.tgz$/u.exec(path)?.groups?.['hex']
    const known = stored.filter(({ name }) => name === path)
    const versions = isRenewed(path) ? [...known, ...known.map(newer)] : known
    if (tarball !== undefined) {
      createReadStream(cached(tarball)).pipe(response)
    } else if (versions.length > 0) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(packument(path, versions, `http://${request.headers.host}`)))
    } else {
      response.writeHead(404).end('{}')
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/`
}

interface Stored extends Locked {
  readonly name: string
  readonly hex: string
}

/** What is installed here, as the lock file has it: packages for other platforms have nothing in the cache. */
function readLocked(): readonly Stored[] {
  return Object.entries(readLock('.').packages as Readonly<Record<string, Locked>>).flatMap(
    ([path, entry]) => {
      const { integrity, link } = entry
      if (!path.startsWith('node_modules/') || link === true || integrity === undefined) return []
      if (!existsSync(path)) return []
      const hex = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
      return [{ ...entry, name: path.split('node_modules/').at(-1) ?? '', hex }]
    }
  )
}

/** A patch that has no tarball. */
function newer(entry: Stored): Stored {
  return { ...entry, version: `${entry.version.replace(/\d+(?:-.*)?$/u, '')}9999`, hex: '' }
}

function packument(name: string, versions: readonly Stored[], registry: string): object {
  const described = versions.map(({ hex, ...entry }) => {
    const dist = { integrity: entry.integrity, tarball: `${registry}/-/${hex}.tgz` }
    return [entry.version, { ...entry, name, dist }] as const
  })
  const [newest] = described
    .map(([version]) => version)
    .toSorted()
    .toReversed()
  return { name, 'dist-tags': { latest: newest }, versions: Object.fromEntries(described) }
}

/** npm keeps the content of packages under their digests. */
function cached(hex: string): string {
  const [one, other, rest] = [hex.slice(0, 2), hex.slice(2, 4), hex.slice(4)]
  return join(cacheFolder, '_cacache', 'content-v2', 'sha512', one, other, rest)
}

/** npm's own file, to be run by a Node that is not the one it came with. */
function npmProgram(): string {
  const root = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim()
  return join(root, 'npm', 'bin', 'npm-cli.js')
}
