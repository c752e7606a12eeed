// What is not, or hardly, HTTP: one connection each.
import { Random } from '../../scripts/demo/random.ts'
import type { Port } from '../../src/contract/operation.ts'
import type { Ground } from './ground.ts'
import { hostileBytes, mutateBytes } from './hostile.ts'

export interface RawCall {
  readonly name: string
  readonly port: Port
  readonly bytes: readonly Buffer[]
  /** More answers than this would be answers to what was smuggled in. */
  readonly repliesMax: number
  /** So many must come; 0 where the sender goes away or waits in vain. */
  readonly repliesMin: number
  readonly isEnding: boolean
  /** Statuses that an answer may have; null: anything that is no failure. */
  readonly statuses: readonly number[] | null
}

type Kind = (random: Random, ground: Ground) => Omit<RawCall, 'port' | 'name'>

const host = 'host: 127.0.0.1\r\n'
const end = '\r\n\r\n'
const smuggled = 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'

function text(...parts: readonly string[]): readonly Buffer[] {
  return parts.map((part) => Buffer.from(part, 'latin1'))
}

/** Must be refused, once, and the connection must end; a path that is not there may be told first. */
function refusedOnce(bytes: readonly Buffer[]): Omit<RawCall, 'port' | 'name'> {
  return { bytes, repliesMax: 2, repliesMin: 1, isEnding: true, statuses: [400, 404, 405] }
}

/** May be refused or hung up on, and may be taken where it is HTTP after all. */
function anything(bytes: readonly Buffer[], isEnding = true): Omit<RawCall, 'port' | 'name'> {
  return { bytes, repliesMax: 50, repliesMin: 0, isEnding, statuses: null }
}

const kinds: Readonly<Record<string, Kind>> = {
  'bytes that are no HTTP': (random) =>
    anything([Buffer.concat([hostileBytes(random), Buffer.from(end), hostileBytes(random)])]),
  'a TLS greeting': () =>
    anything([Buffer.from('16030100a5010000a10303'.padEnd(320, '7f'), 'hex')]),
  'the preface of HTTP/2': () => anything(text('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')),
  'HTTP/0.9 and other versions': (random) =>
    anything(
      text(
        random.pick([
          'GET /healthz\r\n',
          `GET /healthz HTTP/0.9${end}`,
          `GET /healthz HTTP/3.7${end}`,
          `GET /healthz http/1.1\r\n${host}\r\n`,
        ])
      )
    ),
  'two lengths that differ': () =>
    refusedOnce(
      text(
        `POST /conversion HTTP/1.1\r\n${host}content-length: 5\r\ncontent-length: 60\r\n\r\n{"a"}${smuggled}`
      )
    ),
  'a length and chunks': (random) =>
    refusedOnce(
      text(
        `POST /conversion HTTP/1.1\r\n${host}${random.pick(['content-length: 4\r\ntransfer-encoding: chunked', 'transfer-encoding: chunked\r\ncontent-length: 4'])}\r\n\r\n0\r\n\r\n${smuggled}`
      )
    ),
  'an obscured transfer coding': (random) =>
    refusedOnce(
      text(
        `POST /conversion HTTP/1.1\r\n${host}${random.pick(['transfer-encoding : chunked', 'transfer-encoding: xchunked', 'transfer-encoding: chunked, identity', 'transfer-encoding:\x0bchunked', 'transfer-encoding: chunked\r\ntransfer-encoding: x'])}\r\n\r\n0\r\n\r\n${smuggled}`
      )
    ),
  'a length that is no number': (random) =>
    refusedOnce(
      text(
        `POST /conversion HTTP/1.1\r\n${host}content-length: ${random.pick(['-1', '+5', '0x5', '5, 5', '1e3', '99999999999999999999999', '5 5', ''])}\r\n\r\n{"a"}${smuggled}`
      )
    ),
  'broken chunks': (random) =>
    anything(
      text(
        `POST /conversion HTTP/1.1\r\n${host}transfer-encoding: chunked\r\n\r\n`,
        random.pick([
          'zz\r\n',
          '-1\r\nx\r\n',
          'ffffffffffffffffff\r\nx',
          '5\r\nabc\r\n0\r\n\r\n',
          '0x5\r\nabcde\r\n',
          `5;${'a'.repeat(20_000)}\r\nabcde\r\n0\r\n\r\n`,
          `0\r\ntrailer: ${'a'.repeat(40_000)}${end}`,
          '5\nabcde\n0\n\n',
        ]),
        smuggled
      )
    ),
  'broken headers': (random) =>
    anything(
      text(
        `GET /healthz HTTP/1.1\r\n${host}${random.pick(['x', ': x', 'x y: z', 'x: a\r\n folded', 'x:\x00', 'x: a\rb', '\x7f: a', 'x: a\nhost: b', '\xff: \xff'])}${end}`,
        smuggled
      )
    ),
  'two hosts, or none': (random) =>
    anything(
      text(
        `GET /healthz HTTP/1.1\r\n${random.pick(['', `${host}host: evil.example\r\n`, 'host:\r\n', 'host: a, b\r\n'])}\r\n`
      )
    ),
  'a head that is too long': (random) => {
    const head = random.pick([
      `GET /${'a'.repeat(40_000)} HTTP/1.1\r\n${host}\r\n`,
      `GET /healthz HTTP/1.1\r\n${host}x: ${'a'.repeat(70_000)}${end}`,
      `GET /healthz HTTP/1.1\r\n${host}${'y'.repeat(40_000)}: 1${end}`,
    ])
    return { ...refusedOnce(text(head)), statuses: [431] }
  },
  'many headers': () => ({
    ...anything(text(`GET /healthz HTTP/1.1\r\n${host}${'x: y\r\n'.repeat(9_000)}\r\n`)),
    repliesMin: 1,
  }),
  'an odd method': (random) =>
    anything(
      text(
        `${random.pick(['BREW', 'CONNECT', 'M-SEARCH', 'get', 'TRACE', 'QUERY', 'G\x00T', 'POST\x0b', 'OPTIONS', 'UNLOCK'])} ${random.pick(['/conversion', '*', '127.0.0.1:80', '/healthz', '/admin/v1/keys'])} HTTP/1.1\r\n${host}\r\n`
      )
    ),
  'an odd target': (random) =>
    anything(
      text(
        `GET ${random.pick(['', 'healthz', '*', 'http:/healthz', 'http://', 'http://[::1/healthz', 'http://a@b:c/healthz', '//evil.example/healthz', '/\xff\xfe', '/a b', '/\x00', '/%', '/?%', '/#', '\\healthz', 'https://evil.example'])} HTTP/1.1\r\n${host}\r\n`
      )
    ),
  'a switch of protocols': (random) =>
    anything(
      text(
        `GET /healthz HTTP/1.1\r\n${host}connection: upgrade${random.pick(['', ', http2-settings', ', close', '\r\nconnection: x'])}\r\nupgrade: ${random.pick(['websocket', 'h2c', 'TLS/1.0', 'x'.repeat(2_000)])}${end}`
      )
    ),
  'an expectation': (random) =>
    anything(
      text(
        `POST /conversion HTTP/1.1\r\n${host}expect: ${random.pick(['100-continue', '200-ok', '100-continue, x', ''])}\r\ncontent-length: ${random.pick(['2', '900000000', '2000000'])}\r\n\r\n{}`
      )
    ),
  'a head that ends too soon': (random) => {
    const head = `POST /conversion HTTP/1.1\r\n${host}content-length: 2000${end}`
    return anything(text(head.slice(0, random.between(1, head.length))))
  },
  'a body that ends too soon': (random) =>
    anything(
      text(
        `POST ${random.pick(['/conversion', '/impression/x', '/admin/v1/keys'])} HTTP/1.1\r\n${host}content-length: 20000${end}`,
        '{"user_id":"u1"'
      )
    ),
  'requests on one connection, all at once': (random, ground) => {
    const token = random.pick(ground.tokens)
    const count = random.between(2, 40)
    const one = random.pick([
      `GET /healthz HTTP/1.1\r\n${host}\r\n`,
      `POST /impression/${token} HTTP/1.1\r\n${host}\r\n`,
      `POST /conversion HTTP/1.1\r\n${host}content-length: 2\r\n\r\n{}`,
    ])
    return {
      bytes: text(one.repeat(count)),
      repliesMax: count,
      repliesMin: count,
      isEnding: false,
      statuses: [200, 400, 404],
    }
  },
  'a good request and a broken one behind it': (random) => ({
    ...anything(
      text(
        smuggled +
          random.pick([
            'GARBAGE',
            `GET\x00 / HTTP/1.1${end}`,
            `POST /conversion HTTP/1.1\r\n${host}content-length: -1${end}`,
          ]) +
          end
      )
    ),
    repliesMin: 0,
    repliesMax: 3,
  }),
  'a good request of another version of HTTP': (random) =>
    anything(
      text(
        `GET ${random.pick(['/healthz', '/readyz', '/conversion'])} HTTP/1.0\r\n${random.pick(['', host, 'connection: keep-alive\r\n'])}\r\n`
      )
    ),
  'a request with bytes changed': (random, ground) => {
    const token = random.pick(ground.tokens)
    const whole = random.pick([
      `POST /impression/${token} HTTP/1.1\r\n${host}user-agent: x\r\n\r\n`,
      `POST /conversion HTTP/1.1\r\n${host}content-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
      `GET /admin/v1/keys HTTP/1.1\r\n${host}authorization: Bearer ${ground.keys.scoped}\r\n\r\n`,
    ])
    let bytes: Buffer = Buffer.from(whole, 'latin1')
    for (let count = random.between(1, 3); count > 0; count -= 1) bytes = mutateBytes(random, bytes)
    return anything([bytes])
  },
}

export const rawKinds: readonly string[] = Object.keys(kinds)

export function buildRawCall(
  random: Random,
  ground: Ground,
  name: string = random.pick(rawKinds)
): RawCall {
  const kind = kinds[name]
  if (kind === undefined) throw new Error(`there is no kind ${name}`)
  const call = kind(random, ground)
  const port = random.pick(['tracking', 'campaign'] as const)
  // Where nothing may be smuggled through, a refusal is asked for by name.
  return { ...call, name, port, statuses: call.statuses ?? null }
}
