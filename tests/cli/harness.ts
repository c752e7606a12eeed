// A server that answers as it is told and keeps what it received, and command lines run against it.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, beforeEach } from 'node:test'
import { runCli } from '../../src/cli/run.ts'

interface Received {
  readonly method: string
  readonly url: string
  readonly authorization: string
  readonly type: string
  readonly body: string
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly type?: string
  readonly location?: string
  /** Answers before the body has come in, as a server does that refuses it. */
  readonly isEarly?: boolean
  /** Answers on the paths of the tracking port as that does. */
  readonly isTracking?: boolean
}

export const received: Received[] = []
let reply: Reply = { status: 200, body: '{}' }
let replyTo: ((body: string) => Reply) | null = null
export let url = ''
export let folder = ''

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = () => {
    if (reply.type !== undefined) response.setHeader('content-type', reply.type)
    if (reply.location !== undefined) response.setHeader('location', reply.location)
    response.writeHead(reply.status).end(reply.body)
  }
  if (reply.isEarly === true) {
    send()
    request.resume()
    return
  }
  const body = (await buffer(request)).toString()
  const { method = '', headers } = request
  received.push({
    method,
    url: request.url ?? '',
    authorization: headers.authorization ?? '',
    type: headers['content-type'] ?? '',
    body,
  })
  if (replyTo !== null) reply = replyTo(body)
  if (reply.isTracking === true && request.url === '/conversion') response.writeHead(405).end()
  else send()
}

const server = createServer((request, response) => {
  // A caller that breaks off is part of the tests.
  answer(request, response).catch(() => {})
})

/** To be called once by each test file: the server lives as long as its tests. */
export function useCliServer(): void {
  before(start)
  after(stop)
  beforeEach(() => {
    received.length = 0
    reply = { status: 200, body: '{}' }
    replyTo = null
  })
}

async function start(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'shelftrace-cli-'))
  await writeFile(join(folder, 'admin-key'), 'st_from-file\n')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address: AddressInfo | string | null = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  url = `http://127.0.0.1:${address.port}`
}

async function stop(): Promise<void> {
  server.close()
  await rm(folder, { recursive: true, force: true })
}

class Capture extends Writable {
  text = ''
  readonly isTTY: boolean
  readonly columns: number

  constructor({ isTTY = false, columns = 80 }) {
    super()
    this.isTTY = isTTY
    this.columns = columns
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

export async function run(
  argv: readonly string[],
  options: {
    readonly environment?: Readonly<Record<string, string>>
    readonly stdin?: Readable
    /** Whether the error output is a terminal. */
    readonly isTTY?: boolean
    /** The width of the terminal that the output is, if it is one. */
    readonly columns?: number
    readonly stdout?: Writable
  } = {}
) {
  const { columns, isTTY } = options
  const stdout = new Capture(columns === undefined ? {} : { isTTY: true, columns })
  const stderr = new Capture(isTTY === undefined ? {} : { isTTY })
  const exitCode = await runCli({
    argv,
    environment: { SHELFTRACE_URL: url, SHELFTRACE_KEY: 'st_from-env', ...options.environment },
    stdin: options.stdin ?? Readable.from([]),
    stdout: options.stdout ?? stdout,
    stderr,
  })
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}

export function answerWith(status: number, json: unknown, more: Partial<Reply> = {}): void {
  reply = { status, body: JSON.stringify(json), ...more }
}

/** Each request is answered by its body. */
export function answerBy(answerTo: (body: string) => { status: number; json: unknown }): void {
  replyTo = (body) => {
    const { status, json } = answerTo(body)
    return { status, body: JSON.stringify(json) }
  }
}

export function answerText(status: number, body: string, more: Partial<Reply> = {}): void {
  reply = { status, body, ...more }
}

export async function fileOf(content: string | Buffer): Promise<string> {
  const path = join(folder, `input-${Math.random()}`)
  await writeFile(path, content)
  return path
}
