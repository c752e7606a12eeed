import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders, Server } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { createIdentityHasher } from '../../src/domain/identity.ts'
import { openMemorySpool } from '../helpers/memory-spool.ts'
import type { AdEventRecord, ConversionRecord, SpoolRecord } from '../../src/spool/record.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { createKeyRing, createMinter, createOpener } from '../../src/tracking-data/tracking-data.ts'
import type { ServedAd } from '../../src/tracking-data/tracking-data.ts'
import { createTrackingServer } from '../../src/tracking/server.ts'
import type { TrackingDeps } from '../../src/tracking/deps.ts'
import type { RouteCounts } from '../../src/http/request-counts.ts'
import { placement } from '../helpers/placement.ts'
import { entriesOf } from '../helpers/spooled.ts'

export const nowMs = Date.UTC(2026, 2, 2, 10)
export const hashIdentity = createIdentityHasher(Buffer.alloc(32, 7))

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
}

type Logged = { readonly level: string; readonly fields: object; readonly message: string }

export interface Tracker {
  readonly server: Server
  readonly port: number
  readonly spool: Spool
  readonly logged: readonly Logged[]
  readonly at: { ms: number }
  readonly close: () => Promise<void>
  readonly counts: () => readonly RouteCounts[]
  readonly forgetRepeats: () => void
  readonly send: (method: string, path: string, sending?: Sending) => Promise<Reply>
  /** Sends bytes as they are and reads until the server closes, or `ms` of silence. */
  readonly raw: (bytes: string | Buffer, ms?: number) => Promise<string>
  readonly mint: (ad?: Partial<ServedAd>) => string
  readonly records: () => readonly SpoolRecord[]
  readonly adEvents: () => readonly AdEventRecord[]
  readonly conversions: () => readonly ConversionRecord[]
}

/** A tracking server on a free port of loopback, with a spool in memory and a clock that stands still. */
export async function startTracker(
  t: TestContext,
  overrides: Partial<TrackingDeps> = {}
): Promise<Tracker> {
  const at = { ms: nowMs }
  const clock = (): number => at.ms
  const keyRing = createKeyRing()
  const minter = createMinter(keyRing, { clock })
  const logged: Logged[] = []
  const log = (level: string) => (fields: object, message: string) => {
    logged.push({ level, fields, message })
  }
  const deps: TrackingDeps = {
    spool: openMemorySpool({ clock }),
    opener: createOpener(keyRing),
    hashIdentity,
    clock,
    isReady: () => true,
    log: {
      isLevelEnabled: () => true,
      debug: log('debug'),
      error: log('error'),
    },
    trustProxy: false,
    ...overrides,
  }
  const { server, counts, forgetRepeats, close } = createTrackingServer(deps)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(close)
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const records = (): readonly SpoolRecord[] =>
    entriesOf(deps.spool.read(1_000_000)).map((entry) => entry.record)
  return {
    server,
    port,
    spool: deps.spool,
    logged,
    at,
    close,
    counts,
    forgetRepeats,
    send: (method, path, sending) => send({ port, method, path }, sending),
    raw: (bytes, ms) => raw(port, bytes, ms),
    mint: (ad = {}) => minter.mint({ ...anAd, ...ad }).trackingData,
    records,
    adEvents: () => records().filter((record) => record.type === 'ad-event'),
    conversions: () => records().filter((record) => record.type === 'conversion'),
  }
}

export const landingUrl = 'https://shop.example/p/4006381333931?ref=ad&x=%26#top'

export const anAd: ServedAd = {
  ...placement,
  gtin: '4006381333931',
  groupId: 'GRP1',
  userId: 'u1',
  currency: 'EUR',
  costPerClickMicros: 250_000n,
  costPerMilleMicros: 0n,
  landingUrl,
}

/** The body of a valid delivery, with other fields where the test says so. */
export function aConversion(fields: object = {}): object {
  return {
    user_id: 'u1',
    transaction_id: 't-1',
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [
      { gtin: '4006381333931', group_id: 'GRP1', brand: 'Acme', price: 10.5, quantity: 2 },
    ],
    ...fields,
  }
}

/** The messages of a refusal; fails when the body is not one. */
export function messagesOf(reply: Pick<Reply, 'text'>): readonly string[] {
  const body: unknown = JSON.parse(reply.text)
  if (typeof body === 'object' && body !== null && 'messages' in body) {
    if (Array.isArray(body.messages)) return body.messages.map(String)
  }
  throw new Error(`not a refusal: ${reply.text}`)
}

interface Target {
  readonly port: number
  readonly method: string
  readonly path: string
}

async function send(target: Target, { headers = {}, body }: Sending = {}): Promise<Reply> {
  const lists = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === 'string' ? value : [...value],
  ])
  const request = httpRequest({
    host: '127.0.0.1',
    agent: false,
    ...target,
    headers: Object.fromEntries(lists),
  })
  request.end(body)
  const [response] = await once(request, 'response')
  const bytes = await buffer(response)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: bytes,
    text: bytes.toString(),
  }
}

async function raw(port: number, bytes: string | Buffer, silenceMs = 1_000): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.setTimeout(silenceMs, () => socket.destroy())
  const closed = once(socket, 'close')
  socket.write(bytes)
  await closed
  return answer
}
