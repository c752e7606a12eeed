// The service as a new user starts it: the built command line in a process of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { canListen, freePort } from '../free-port.ts'
import { DemoError, describeAnswer, describeError } from './failures.ts'
import type { HttpClient } from './http.ts'

const limits = {
  readyMsMax: 90_000,
  probeMsMax: 2_000,
  probeEveryMs: 150,
  // The service promises 10 seconds; more than that and it hangs.
  stopMsMax: 15_000,
  tailLinesMax: 40,
  tailBytesMax: 65_536,
} as const

const host = '127.0.0.1'
const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface ServicePlan {
  readonly dataDir: string
  readonly trackingPort: number
  readonly campaignPort: number
}

/** The wanted port; without a wish the usual one if it is free, else any free one. */
export async function findPort(wanted: number | null, usual: number): Promise<number> {
  const preferred = wanted ?? usual
  if (preferred !== 0 && (await canListen(preferred, host))) return preferred
  if (wanted !== null && wanted !== 0) {
    throw new DemoError(`port ${wanted} of ${host} is taken or not allowed`)
  }
  return await freePort(host)
}

export class Service {
  readonly trackingUrl: string
  readonly campaignUrl: string
  readonly adminKeyFile: string
  readonly exited: Promise<void>
  readonly #child: ChildProcess
  #tail = ''
  #spawnFault: unknown = null

  constructor({ dataDir, trackingPort, campaignPort }: ServicePlan) {
    if (!existsSync(commandLine)) {
      throw new DemoError('dist/cli.js is missing. "npm ci" builds it; so does "npm run build".')
    }
    this.trackingUrl = `http://${host}:${trackingPort}`
    this.campaignUrl = `http://${host}:${campaignPort}`
    this.adminKeyFile = join(dataDir, 'admin-key')
    this.#child = spawn(process.execPath, [commandLine, 'serve'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: serviceEnvironment({ dataDir, trackingPort, campaignPort }),
    })
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', () => resolve())
      this.#child.once('error', (error) => {
        this.#spawnFault = error
        resolve()
      })
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8')
      stream?.on('data', (text: string) => this.#keep(text))
    }
  }

  get isAlive(): boolean {
    const { exitCode, signalCode } = this.#child
    return this.#spawnFault === null && exitCode === null && signalCode === null
  }

  get #lastLines(): string {
    return this.#tail.split('\n').slice(-limits.tailLinesMax).join('\n').trim()
  }

  /** Waits until both ports take traffic and gives the operator's key. */
  async ready(http: HttpClient): Promise<string> {
    const deadlineMs = Date.now() + limits.readyMsMax
    for (const url of [this.campaignUrl, this.trackingUrl]) {
      await this.#readyAt(http, { url: `${url}/readyz`, deadlineMs })
    }
    return (await readFile(this.adminKeyFile, 'utf8')).trim()
  }

  async #readyAt(http: HttpClient, { url, deadlineMs }: { url: string; deadlineMs: number }) {
    for (;;) {
      if (!this.isAlive) throw this.fault('the service ended before it was ready')
      const answer = await http
        .send({ method: 'GET', url, timeoutMs: limits.probeMsMax })
        .then(describeAnswer, describeError)
      if (answer.startsWith('200')) return
      if (Date.now() > deadlineMs) {
        const seconds = limits.readyMsMax / 1_000
        throw this.fault(`${url} is not ready after ${seconds} s; it last said: ${answer}`)
      }
      await sleep(limits.probeEveryMs)
    }
  }

  fault(message: string): DemoError {
    const { exitCode, signalCode } = this.#child
    const end = this.isAlive ? '' : ` (${signalCode ?? `exit code ${exitCode ?? 'unknown'}`})`
    const cause = this.#spawnFault === null ? '' : `\n${describeError(this.#spawnFault)}`
    const tail = this.#lastLines === '' ? 'It wrote nothing.' : `It last wrote:\n${this.#lastLines}`
    return new DemoError(`${message}${end}${cause}\n${tail}`)
  }

  /** SIGTERM, and how the service took it: null when it ended well, else what was wrong. */
  async stop(): Promise<string | null> {
    // A Ctrl-C on a terminal reaches the service as well; it may be gone already.
    if (this.isAlive) this.#child.kill('SIGTERM')
    const isStopped = await Promise.race([
      this.exited.then(() => true),
      sleep(limits.stopMsMax, false, { ref: false }),
    ])
    if (!isStopped) {
      this.kill()
      await this.exited
      return `the service did not stop within ${limits.stopMsMax / 1_000} s of SIGTERM and was killed`
    }
    const { exitCode, signalCode } = this.#child
    return exitCode === 0 ? null : `the service ended with ${signalCode ?? `exit code ${exitCode}`}`
  }

  /** For the last moment of this process, when waiting is no longer possible. */
  kill(): void {
    if (this.isAlive) this.#child.kill('SIGKILL')
  }

  #keep(text: string): void {
    this.#tail = (this.#tail + text).slice(-limits.tailBytesMax)
  }
}

/** The user's own settings of the service must not turn the demo's expectation wrong. */
function serviceEnvironment({ dataDir, trackingPort, campaignPort }: ServicePlan) {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SHELFTRACE_'))
  return {
    ...Object.fromEntries(own),
    SHELFTRACE_DATA_DIR: dataDir,
    SHELFTRACE_TRACKING_PORT: String(trackingPort),
    SHELFTRACE_CAMPAIGN_PORT: String(campaignPort),
  }
}
