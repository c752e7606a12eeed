// The process behind clickhouse-stand-in.ts: `node clickhouse-stand-in.child.ts <folder> <port> [config]`.
// Each request has a session of its own, opened with the settings of its address, so that none is
// left over from an earlier one. Bound values go to the engine as the client wrote them: chdb's own
// binding would escape them once more.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Session as ChdbSession, SessionOptions } from 'chdb'
import { standInCredentials } from './clickhouse-stand-in.ts'
import type {
  StandInAnswer,
  StandInBehaviour,
  StandInCommand,
  StandInRequest,
} from './clickhouse-stand-in.ts'

interface Chunk {
  readonly done?: boolean
  readonly bytes: Uint8Array
}

type Bound = Readonly<Record<string, string>>

interface Engine {
  QueryAsyncConnection(
    connection: unknown,
    sql: string,
    format: string,
    bound: Bound
  ): Promise<Chunk>
  InsertRawAsyncConnection(
    connection: unknown,
    prefix: string,
    rows: Buffer,
    isLines: boolean
  ): Promise<unknown>
  StreamQuery(connection: unknown, sql: string, format: string, bound: Bound): unknown
  StreamFetch(stream: unknown): Promise<Chunk>
  StreamCancel(stream: unknown): void
}

interface Parsed extends StandInRequest {
  readonly format: string
  readonly bound: Bound
  /** The rows of an insert whose statement stands in the address. */
  readonly rows: Buffer | null
}

const require = createRequire(import.meta.url)
const {
  Session,
}: { Session: new (path: string, options: SessionOptions) => ChdbSession } = require('chdb')
const loader: { loadNative(): Engine } = require(
  join(dirname(require.resolve('chdb')), 'dist', 'loader.js')
)
const engine = loader.loadNative()

const requestsKeptMax = 100
/** Parameters of the address that are no settings. */
const ownParameters = new Set(['query', 'query_id', 'database', 'default_format', 'session_id'])

const [folder = '', firstPort = '0', configPath = ''] = process.argv.slice(2)
// Keeps the engine up between requests. The configuration is read once, with the first session.
const keeper = new Session(folder, {
  connectionArgs: configPath === '' ? [] : [`--config-file=${configPath}`],
})
keeper.query('CREATE DATABASE IF NOT EXISTS shelftrace')

const requests: StandInRequest[] = []
/** The statements of the program are some hundreds. */
const counts: Record<string, number> = {}
const beginningLength = 200
let behaviour: StandInBehaviour = { kind: 'serve' }
let limits: Readonly<Record<string, string>> = {}
let port = Number(firstPort)

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    if (response.headersSent) response.destroy()
    else sendFailure(response, error)
  })
})

process.on('message', (command: StandInCommand) => {
  void obey(command).then((reply) => process.send?.(reply))
})
process.once('disconnect', () => process.exit(0))

async function obey(command: StandInCommand): Promise<StandInAnswer> {
  if (command.limits !== undefined) limits = command.limits
  if (command.behaviour !== undefined) {
    // Requests that were left hanging are never answered: a server that comes back knows nothing of it.
    if (behaviour.kind === 'hang') server.closeAllConnections()
    behaviour = command.behaviour
  }
  if (behaviour.kind === 'refuse-connections') await stopListening()
  else if (!server.listening) await listen()
  return { id: command.id, port, requests, counts }
}

async function listen(): Promise<void> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address()
  // The same port is taken again later, so that the client's address stays good.
  if (typeof address === 'object' && address !== null) port = address.port
}

async function stopListening(): Promise<void> {
  if (!server.listening) return
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request)
  if (behaviour.kind === 'hang') return
  if (behaviour.kind === 'answer') {
    const { status, clickhouseCode } = behaviour
    const text =
      clickhouseCode === undefined
        ? 'upstream is away'
        : `Code: ${clickhouseCode}. DB::Exception: Told to fail. (STAND_IN_FAILURE)`
    return send(response, status, { text, clickhouseCode })
  }
  const url = new URL(request.url ?? '/', 'http://stand-in')
  if (url.pathname === '/ping') return send(response, 200, { text: 'Ok.\n' })
  if (!isAllowed(request)) {
    const text = 'Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)'
    return send(response, 401, { text, clickhouseCode: 516 })
  }
  await run(parse(request, url, body), response)
}

function isAllowed(request: IncomingMessage): boolean {
  const { user, password } = standInCredentials
  const expected = Buffer.from(`${user}:${password}`).toString('base64')
  return request.headers.authorization === `Basic ${expected}`
}

function parse(request: IncomingMessage, url: URL, body: Buffer): Parsed {
  const boundary = /boundary=(.+)$/u.exec(request.headers['content-type'] ?? '')?.[1]
  const parts = boundary === undefined ? new Map<string, string>() : readParts(body, boundary)
  const inUrl = url.searchParams.get('query')
  const text = inUrl ?? parts.get('query') ?? body.toString()
  const [, statement = text, format = url.searchParams.get('default_format') ?? 'TabSeparated'] =
    inUrl === null ? (/^(.*\S)\s+FORMAT\s+(\w+)\s*$/su.exec(text) ?? []) : []
  const bound: Record<string, string> = {}
  const settings: Record<string, string> = {}
  for (const [name, value] of [...url.searchParams, ...parts]) {
    if (name.startsWith('param_')) bound[name.slice('param_'.length)] = value
    else if (!ownParameters.has(name)) settings[name] = value
  }
  return {
    statement: pose(statement),
    format,
    settings,
    bound,
    database: url.searchParams.get('database') ?? 'default',
    paramNames: Object.keys(bound),
    isMultipart: boundary !== undefined,
    rows: inUrl === null ? null : body,
  }
}

function pose(statement: string): string {
  if (behaviour.kind !== 'pose') return statement
  return Object.entries(behaviour.replaced).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    statement
  )
}

function readParts(body: Buffer, boundary: string): Map<string, string> {
  const parts = new Map<string, string>()
  for (const part of body.toString().split(`--${boundary}`)) {
    const [, name, value] = /^\r\n.*?name="(\w+)"\r\n\r\n(.*)\r\n$/su.exec(part) ?? []
    if (name !== undefined && value !== undefined) parts.set(name, value)
  }
  return parts
}

async function run(parsed: Parsed, response: ServerResponse): Promise<void> {
  const { statement, database, settings, paramNames, isMultipart } = parsed
  const beginning = statement.replaceAll(/\s+/gu, ' ').trim().slice(0, beginningLength)
  counts[beginning] = (counts[beginning] ?? 0) + 1
  requests.push({ statement, database, settings, paramNames, isMultipart })
  requests.splice(0, requests.length - requestsKeptMax)
  if (behaviour.kind === 'forbid' && behaviour.setting in settings) {
    const text = `Code: 452. DB::Exception: Setting ${behaviour.setting} should not be changed. (SETTING_CONSTRAINT_VIOLATION)`
    return send(response, 500, { text, clickhouseCode: 452 })
  }
  const session = new Session(folder, {
    connectionArgs: Object.entries({ ...settings, ...limits }).map(
      ([name, value]) => `--${name}=${value}`
    ),
  })
  try {
    session.query(`USE \`${database}\``)
    if (parsed.rows !== null) {
      await engine.InsertRawAsyncConnection(session.connection, statement, parsed.rows, true)
      send(response, 200, { text: '' })
    } else if (/^\s*(?:SELECT|WITH)\b/iu.test(statement)) {
      await sendStream(response, session, parsed)
    } else {
      const { bytes } = await engine.QueryAsyncConnection(
        session.connection,
        statement,
        parsed.format,
        parsed.bound
      )
      send(response, 200, { text: Buffer.from(bytes).toString() })
    }
  } finally {
    session.close()
  }
}

/** A failure before the first byte is a status; one behind it can only be told in the body. */
async function sendStream(
  response: ServerResponse,
  session: ChdbSession,
  { statement, format, bound }: Parsed
): Promise<void> {
  const stream = engine.StreamQuery(session.connection, statement, format, bound)
  const tag = randomBytes(8).toString('hex')
  try {
    let chunk = await engine.StreamFetch(stream)
    response.writeHead(200, { 'x-clickhouse-exception-tag': tag, 'x-clickhouse-format': format })
    let sentBytes = 0
    while (chunk.done !== true && !response.destroyed) {
      const limited = limit(chunk.bytes, sentBytes)
      sentBytes += limited.length
      const isTaken = response.write(limited)
      if (limited.length < chunk.bytes.length) return await breakOff(response)
      if (!isTaken) await drained(response)
      chunk = await engine.StreamFetch(stream)
    }
    response.end()
  } catch (error) {
    if (!response.headersSent) throw error
    const { text } = describe(error)
    const length = Buffer.byteLength(text) + 1
    // ClickHouse leaves the last chunk out as well, so that no client takes the answer for whole.
    response.write(
      `\r\n__exception__\r\n${tag}\r\n${text}\n${length} ${tag}\r\n__exception__\r\n`,
      () => response.socket?.end()
    )
  } finally {
    engine.StreamCancel(stream)
  }
}

function limit(bytes: Uint8Array, sentBytes: number): Uint8Array {
  if (behaviour.kind !== 'cut' && behaviour.kind !== 'stall') return bytes
  return bytes.subarray(0, Math.max(0, behaviour.afterBytes - sentBytes))
}

async function breakOff(response: ServerResponse): Promise<void> {
  if (behaviour.kind === 'stall') return
  await new Promise<void>((resolve) => response.write('', () => resolve()))
  response.destroy()
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return
  const controller = new AbortController()
  const { signal } = controller
  // Whichever comes first; the listeners of the other are taken back.
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  controller.abort()
}

interface Content {
  readonly text: string
  readonly clickhouseCode?: number | undefined
}

function send(response: ServerResponse, status: number, { text, clickhouseCode }: Content): void {
  response.writeHead(status, {
    'x-clickhouse-summary': '{"read_rows":"0","written_rows":"0"}',
    ...(clickhouseCode === undefined ? {} : { 'x-clickhouse-exception-code': clickhouseCode }),
  })
  response.end(text)
}

function sendFailure(response: ServerResponse, error: unknown): void {
  const content = describe(error)
  // The codes of an unknown table or database are 404, like on a server; others are not told apart.
  const isUnknown = content.clickhouseCode === 60 || content.clickhouseCode === 81
  send(response, isUnknown ? 404 : 500, content)
}

function describe(error: unknown): { text: string; clickhouseCode: number } {
  const message = error instanceof Error ? error.message : String(error)
  const [text = message, code = '1002'] = /Code: (\d+)\..*$/su.exec(message) ?? []
  return { text, clickhouseCode: Number(code) }
}
