// A whole service in processes of its own, as an operator runs it: for end-to-end and fault tests.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as requestOverTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/free-port.ts'
import { ensureSecrets } from '../../src/secrets.ts'
import { copyMigrated } from './test-warehouse.ts'

export interface ServiceOptions {
  readonly dataDir?: string
  readonly env?: Readonly<Record<string, string>>
  /** The limit of each process; that of this process when absent. */
  readonly openFilesMax?: number
  /** The program to start; the built one of the source, by this Node, when absent. */
  readonly command?: readonly string[]
}

export class Service {
  readonly dataDir: string
  readonly trackingUrl: string
  readonly campaignUrl: string
  readonly #env: NodeJS.ProcessEnv
  readonly #openFilesMax: number | undefined
  readonly #command: readonly string[]
  /** The certificate that the service speaks TLS with. */
  readonly #ca: Buffer | undefined
  #supervisor: ChildProcess | null = null
  #stdout = ''
  #stderr = ''

  constructor(options: {
    dataDir: string
    ports: readonly [number, number]
    env: NodeJS.ProcessEnv
    openFilesMax?: number | undefined
    command?: readonly string[] | undefined
  }) {
    const [trackingPort, campaignPort] = options.ports
    this.dataDir = options.dataDir
    this.#openFilesMax = options.openFilesMax
    // The built files, since those are what users run: scripts/test.ts builds before the tests.
    this.#command = options.command ?? [process.execPath, 'dist/cli.js']
    const certPath = options.env['SHELFTRACE_TLS_CERT']
    this.#ca = certPath === undefined ? undefined : readFileSync(certPath)
    const scheme = this.#ca === undefined ? 'http' : 'https'
    this.trackingUrl = `${scheme}://127.0.0.1:${trackingPort}`
    this.campaignUrl = `${scheme}://127.0.0.1:${campaignPort}`
    this.#env = {
      ...withoutOurs(process.env),
      SHELFTRACE_DATA_DIR: options.dataDir,
      SHELFTRACE_TRACKING_PORT: String(trackingPort),
      SHELFTRACE_CAMPAIGN_PORT: String(campaignPort),
      ...options.env,
    }
  }

  get stderr(): string {
    return this.#stderr
  }

  get stdout(): string {
    return this.#stdout
  }

  get pid(): number {
    if (this.#supervisor?.pid === undefined) throw new Error('the service is not running')
    return this.#supervisor.pid
  }

  get adminKey(): string {
    return readFileSync(join(this.dataDir, 'admin-key'), 'utf8').trim()
  }

  /** False before the start, and when the supervisor has ended, by itself or not. */
  get isRunning(): boolean {
    const child = this.#supervisor
    return child !== null && child.exitCode === null && child.signalCode === null
  }

  /** Resolves when the service says that it takes traffic. */
  async start(): Promise<void> {
    // The limit that nobody may raise again: Node raises the other one as far as this one.
    const limit = this.#openFilesMax === undefined ? '' : `ulimit -n ${this.#openFilesMax} && `
    const child = spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', ...this.#command, 'serve'], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#supervisor = child
    child.stderr.on('data', (text: Buffer) => (this.#stderr += text.toString()))
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        this.#stdout += text.toString()
        if (this.#stdout.includes('takes traffic')) resolve()
      })
      child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${this.#stderr}`)))
    })
    this.#stdout = ''
  }

  /** The exit code. */
  async terminate(): Promise<number | null> {
    return await this.#end('SIGTERM')
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** The supervisor and its children at the same instant, as when the machine loses its power. */
  async killAll(): Promise<void> {
    const children = [...this.children('engine'), ...this.children('tracker')]
    const ended = this.#end('SIGKILL')
    for (const pid of children) signalProcess(pid, 'SIGKILL')
    await ended
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#supervisor
    this.#supervisor = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return null
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.kill(signal)
    return await exited
  }

  /** Processes whose parent is the supervisor, by the name of their program. */
  children(program: 'engine' | 'tracker'): readonly number[] {
    const text = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8')
    return text
      .split(' ')
      .filter((pid) => pid !== '')
      .map(Number)
      .filter((pid) => commandLine(pid).includes(`/dist/${program}.js`))
  }

  async admin(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.adminKey}`,
      'content-type': 'application/json',
    }
    const text = body === undefined ? undefined : JSON.stringify(body)
    const url = `${this.campaignUrl}${path}`
    if (this.#ca !== undefined)
      return await fetchOverTls(url, { method, headers, text, ca: this.#ca })
    return await fetch(url, { method, headers, ...(text === undefined ? {} : { body: text }) })
  }
}

/** `fetch` takes no certificate to trust. */
async function fetchOverTls(
  url: string,
  {
    text,
    ...options
  }: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly text: string | undefined
    readonly ca: Buffer
  }
): Promise<Response> {
  const request = requestOverTls(url, options)
  request.end(text)
  const [answer]: [IncomingMessage] = (await once(request, 'response')) as [IncomingMessage]
  const { statusCode: status = 0 } = answer
  return new Response(await buffer(answer), { status })
}

/** A process that has ended meanwhile is passed over. */
export function signalProcess(pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It ended between the two looks.
    return ''
  }
}

function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SHELFTRACE_')))
}

interface Lifetime {
  after(fn: () => Promise<void>): void
}

/** Not started yet; ended, and its folder removed, when the test ends. */
export async function prepareService(t: Lifetime, options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'shelftrace-service-'))
  if (options.dataDir === undefined) beginFolder(dataDir, options.env)
  const ports = [await freePort(), await freePort()] as const
  const service = new Service({
    dataDir,
    ports,
    env: { ...options.env },
    openFilesMax: options.openFilesMax,
    command: options.command,
  })
  t.after(async () => {
    await service.terminate()
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
  })
  return service
}

/** As the first start of a node does it: the secrets before the warehouse. */
function beginFolder(dataDir: string, env: ServiceOptions['env'] = {}): void {
  const ownFile = join(dataDir, 'secrets.json')
  const secretsFile = env['SHELFTRACE_SECRETS_FILE'] ?? ownFile
  ensureSecrets({ dataDir, secretsFile, adminKey: env['SHELFTRACE_ADMIN_KEY'] ?? null })
  copyMigrated(join(dataDir, 'warehouse'))
}

/** A connection that a tracker had when it was killed may stay without an answer. */
export async function statusOf(url: string): Promise<number> {
  return (await fetch(url, { signal: AbortSignal.timeout(20_000) })).status
}

/** Asks until the answer is true; the last thing seen goes into the error. */
export async function eventually(
  what: string,
  ask: () => Promise<boolean>,
  patienceMs = 60_000,
  pauseMs = 50
): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!(await ask().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`it never came to this: ${what}`)
    await sleep(pauseMs)
  }
}
