// One request, made from the number of the request and the seed alone: a request that found something
// can be made again.
import { gzipSync } from 'node:zlib'
import { Random } from '../../scripts/demo/random.ts'
import type { Operation, Port } from '../../src/contract/operation.ts'
import type { Ground, KeyKind } from './ground.ts'
import { rightTexts, signedOn } from './ground.ts'
import {
  hostileTexts,
  hostileValue,
  mutateBytes,
  mutateJson,
  mutateJsonText,
  mutateToken,
  type Json,
} from './hostile.ts'
import { Sampler } from './sample.ts'

export interface Call {
  readonly operation: Operation
  readonly port: Port
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  /** Null: none is sent, and no length either. */
  readonly body: Buffer | null
  readonly isChunked: boolean
  /** The path and the method still are those of the operation. */
  readonly isRouted: boolean
  /** Nothing was spoilt. */
  readonly isRight: boolean
}

type Draft = { -readonly [Name in keyof Call]: Call[Name] } & {
  path: string
  query: string
  value: Json
  isBodyJson: boolean
}

type Mutation = (draft: Draft, random: Random, ground: Ground) => void

export function buildCall(operation: Operation, random: Random, ground: Ground): Call {
  const draft = rightDraft(operation, random, ground)
  const count = random.pick([0, 1, 1, 1, 2, 3])
  const usable = operation.body === null ? withoutBody : [...withoutBody, ...ofBodies]
  for (let index = 0; index < count; index += 1) {
    random.pick(usable)(draft, random, ground)
    draft.isRight = false
  }
  const { query, path, value: _, isBodyJson: __, ...call } = draft
  const target = query === '' ? path : `${path}?${query}`
  // Such a target need not be taken as HTTP at all.
  const isPlain = /^[\x21-\x7e]*$/.test(target) && target.length < 9_000
  return { ...call, target, isRouted: call.isRouted && isPlain }
}

function rightDraft(operation: Operation, random: Random, ground: Ground): Draft {
  const sampler = new Sampler(random, ground.vocabulary)
  const parameters =
    operation.pathParameters === undefined ? {} : sampler.sample(operation.pathParameters)
  const path = fillPath(operation.path, parameters)
  const { value, body, isBodyJson } = rightBody(operation, random, sampler)
  const headers: [string, string][] = [
    ['host', '127.0.0.1'],
    ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
    // Refusals are counted by address, and one address would soon hear nothing but 429.
    [
      'x-forwarded-for',
      `10.${random.between(0, 255)}.${random.between(0, 255)}.${random.between(1, 254)}`,
    ],
  ]
  if (operation.access !== null) headers.push(['authorization', `Bearer ${ground.keys.admin}`])
  if (operation.body !== null) headers.push(['content-type', operation.body.mediaType])
  return {
    operation,
    port: random.pick(operation.ports),
    method: operation.method.toUpperCase(),
    target: '',
    path,
    query: rightQuery(operation, sampler),
    headers,
    value,
    isBodyJson,
    body,
    isChunked: random.chance(0.2),
    isRouted: true,
    isRight: true,
  }
}

function rightBody(operation: Operation, random: Random, sampler: Sampler) {
  const { body, operationId } = operation
  if (body === null) return { value: null, body: null, isBodyJson: false }
  const text = rightTexts[operationId]
  const isBodyJson = body.mediaType.endsWith('json')
  if (text !== undefined && (!isBodyJson || random.chance(0.5))) {
    const known = isBodyJson ? (JSON.parse(text) as Json) : null
    return { value: known, body: Buffer.from(text), isBodyJson }
  }
  const lineCount = body.isStream ? random.between(0, 5) : 1
  const values = Array.from({ length: lineCount }, () => sampler.sample(body.schema))
  const json = values.map((value) => JSON.stringify(value)).join('\n')
  return { value: values[0] ?? null, body: Buffer.from(json), isBodyJson }
}

function rightQuery({ queryParameters }: Operation, sampler: Sampler): string {
  if (queryParameters === undefined) return ''
  const value = sampler.sample(queryParameters)
  if (value === null || typeof value !== 'object') return ''
  const pairs = Object.entries(value).map(([name, item]): [string, string] => [name, textOf(item)])
  return new URLSearchParams(pairs).toString()
}

function fillPath(path: string, values: Json): string {
  const known = new Map(Object.entries(values ?? {}))
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(known.get(name)))
  )
}

function setHeader(draft: Draft, name: string, value: string): void {
  draft.headers = [...draft.headers.filter(([own]) => own !== name), [name, value]]
}

const refusedKeys: readonly KeyKind[] = ['expired', 'revoked', 'narrow']

const changeKey: Mutation = (draft, random, ground) => {
  const kind = random.pick([...refusedKeys, 'scoped', 'scoped'] as const)
  setHeader(draft, 'authorization', `Bearer ${ground.keys[kind]}`)
}

const spoilKey: Mutation = (draft, random, ground) => {
  const { admin } = ground.keys
  const value = random.pick([
    '',
    'Bearer',
    'Bearer ',
    `Bearer  ${admin}x`,
    `Basic ${admin}`,
    `Bearer ${admin.slice(0, -1)}`,
    `Bearer ${admin.toUpperCase()}`,
    `Bearer ${admin}, Bearer ${admin}`,
    `Bearer "${admin}"`,
    `Bearer ${'A'.repeat(8_000)}`,
    'Bearer undefined',
    'Bearer \u00ff\u00fe',
  ])
  if (random.chance(0.2)) draft.headers = [...draft.headers, ['authorization', value]]
  else setHeader(draft, 'authorization', value)
}

const dropKey: Mutation = (draft) => {
  draft.headers = draft.headers.filter(([name]) => name !== 'authorization')
}

/** A proxy names the person, or seems to. */
const signOn: Mutation = (draft, random, ground) => {
  if (draft.operation.access === null) return
  if (random.chance(0.9)) dropKey(draft, random, ground)
  const header = (name: string, value: string) => {
    draft.headers = [...draft.headers, [name, value]]
  }
  header('x-forwarded-email', random.pick([signedOn, signedOn.toUpperCase()]))
  if (random.chance(0.8)) header('shelftrace-page', random.pick(['1', '', 'x'.repeat(4_000)]))
  if (random.chance(0.5)) return
  const hostile = printable(random.pick(hostileTexts)).slice(0, 9_000)
  const value = random.pick([
    hostile,
    `${hostile}@example.com`,
    `${signedOn},${hostile}`,
    '\u00ff@b',
  ])
  if (random.chance(0.5)) setHeader(draft, 'x-forwarded-email', value)
  else header(random.pick(['x-forwarded-email', 'X-FORWARDED-EMAIL', 'sec-fetch-site']), value)
}

const spoilPathParameter: Mutation = (draft, random, ground) => {
  const { operation } = draft
  const names = Object.keys(operation.pathParameters?.properties ?? {})
  const token = random.pick(ground.tokens)
  const values = Object.fromEntries(
    names.map((name) => [name, hostileParameter(name, token, random, ground)])
  )
  draft.path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name)
  draft.isRouted = false
}

function hostileParameter(name: string, token: string, random: Random, ground: Ground): string {
  if (name === 'trackingData')
    return printable(mutateToken(random, token, random.pick(ground.tokens)))
  const text = textOf(random.chance(0.5) ? random.pick(hostileTexts) : hostileValue(random)).slice(
    0,
    9_000
  )
  return encodeURIComponent(text.toWellFormed())
}

const spoilPath: Mutation = (draft, random) => {
  const { path } = draft
  const at = random.between(0, path.length)
  draft.isRouted = false
  draft.path = random.pick([
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    path.replaceAll('/', '//'),
    path.replace('/', '/./'),
    `/x/..${path}`,
    `/%2e%2e${path}`,
    path.replaceAll('/', '%2F'),
    `${path}%00`,
    `${path}%`,
    `${path}%ff`,
    `${path};a=b`,
    `${path}#fragment`,
    path.slice(0, at),
    path.slice(0, at) + printable(random.pick(hostileTexts)) + path.slice(at),
    `http://evil.example${path}`,
    `HTTPS://127.0.0.1:1${path}`,
    `${path}/${'a/'.repeat(2_000)}`,
    `${path}${'%41'.repeat(3_000)}`,
  ])
}

const spoilQuery: Mutation = (draft, random) => {
  const { queryParameters } = draft.operation
  const name = random.pick([
    ...Object.keys(queryParameters?.properties ?? {}),
    'x',
    '__proto__',
    'url',
  ])
  const text = printable(textOf(hostileValue(random)).slice(0, 4_000))
  const value = random.chance(0.5) ? text : encodeURIComponent(text)
  const { query } = draft
  draft.query = random.pick([
    `${query}&${name}=${value}`,
    `${name}=${value}`,
    `${name}[]=${value}&${name}[a]=1`,
    `${name}=${value}&${name}=${value}`,
    `${query}&${name}`,
    `${query}&%ff=%fe&=&&&`,
    `?${query}`,
    query.replaceAll('=', '%3D'),
    `${name}=${value}`.repeat(50),
    'a=1&'.repeat(3_000),
  ])
}

const strayHeaders: readonly (readonly [string, string])[] = [
  ['origin', 'https://evil.example'],
  ['origin', 'null'],
  ['sec-fetch-site', 'cross-site'],
  ['sec-purpose', 'prefetch;prerender'],
  ['purpose', 'prefetch'],
  ['x-moz', 'prefetch'],
  ['user-agent', 'Googlebot/2.1 (+http://www.google.com/bot.html)'],
  ['user-agent', ''],
  ['user-agent', 'x'.repeat(6_000)],
  ['user-agent', '\u00ff\u0080 {x} \\'],
  ['x-forwarded-for', 'evil, ::1, 999.1.1.1'],
  ['x-forwarded-for', '[2001:db8::1]:80'],
  ['x-forwarded-host', 'evil.example'],
  ['host', 'evil.example:99999'],
  ['host', ''],
  ['accept', 'text/html;q=zz,*/*;q=-1'],
  ['accept-encoding', 'gzip;q=0, br, *;q=999'],
  ['accept-language', '\u00e9'.repeat(400)],
  ['if-none-match', '*'],
  ['if-none-match', '"a", W/"b"'],
  ['if-modified-since', 'yesterday'],
  ['range', 'bytes=0-,-1'],
  ['cookie', `a=${'b'.repeat(4_000)}`],
  ['content-type', 'text/plain; charset=utf-16'],
  ['content-type', 'multipart/form-data'],
  ['content-type', '/;;=,'],
  ['content-type', 'Application/JSON; charset="utf-8'],
  ['content-encoding', 'br'],
  ['content-encoding', 'gzip, gzip'],
  ['content-encoding', 'GZIP'],
  ['content-encoding', 'deflate'],
  ['access-control-request-method', 'TRACE'],
  ['access-control-request-headers', 'x'.repeat(3_000)],
  ['x-http-method-override', 'DELETE'],
  ['te', 'trailers'],
  ['forwarded', 'for="_x";proto=https'],
]

const strayHeader: Mutation = (draft, random) => {
  const [name, value] = random.pick(strayHeaders)
  if (random.chance(0.8)) setHeader(draft, name, value)
  else draft.headers = [...draft.headers, [name, value]]
  if (name === 'host') draft.isRouted = false
}

const changeMethod: Mutation = (draft, random) => {
  draft.method = random.pick([
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
  ])
  draft.isRouted = false
}

const unwantedBody: Mutation = (draft, random) => {
  draft.body ??= random.pick([
    Buffer.from('{"user_id":"u1"}'),
    Buffer.alloc(70_000, 'x'),
    Buffer.from([0, 255]),
  ])
}

const spoilValue: Mutation = (draft, random) => {
  if (!draft.isBodyJson) return spoilText(draft, random)
  draft.value = mutateJson(random, draft.value)
  draft.body = Buffer.from(JSON.stringify(draft.value))
}

function spoilText(draft: Draft, random: Random): void {
  const text = draft.body?.toString() ?? ''
  draft.body = Buffer.from(
    random.pick([
      text.replaceAll('\n', random.pick(['\r', '\r\n\r\n', '\u2028', ''])),
      text.replace(/\d+/, random.pick(hostileTexts)),
      text.replaceAll(/[\t,]/g, random.pick([';', '"', '\t\t', ',"'])),
      text + random.pick(hostileTexts),
      `"${text}`,
      text.repeat(random.between(2, 200)),
      random.pick(hostileTexts),
    ])
  )
}

const spoilJsonText: Mutation = (draft, random) => {
  draft.body = Buffer.from(mutateJsonText(random, draft.body?.toString() ?? ''))
}

const spoilBytes: Mutation = (draft, random) => {
  draft.body = mutateBytes(random, draft.body ?? Buffer.alloc(0))
}

const packBody: Mutation = (draft, random) => {
  const packed = gzipSync(draft.body ?? '')
  draft.body = random.chance(0.5) ? packed : mutateBytes(random, packed)
  setHeader(draft, 'content-encoding', 'gzip')
}

/** Made once: 64 MiB of blanks in 64 KiB, and the same packed again. */
const bomb = gzipSync(Buffer.alloc(67_108_864, ' '))
const bombs = [bomb, gzipSync(bomb)]

const sendBomb: Mutation = (draft, random, ground) => {
  if (random.chance(0.9)) return packBody(draft, random, ground)
  draft.body = random.pick(bombs)
  setHeader(draft, 'content-encoding', 'gzip')
}

const sendTooMuch: Mutation = (draft, random, ground) => {
  if (random.chance(0.9)) return spoilBytes(draft, random, ground)
  draft.body = Buffer.alloc(
    random.pick([1_048_576, 1_048_577, 1_500_000]),
    random.pick([' ', '[', '"', '\n'])
  )
}

const withoutBody: readonly Mutation[] = [
  signOn,
  changeKey,
  spoilKey,
  dropKey,
  spoilPathParameter,
  spoilPathParameter,
  spoilPath,
  spoilQuery,
  spoilQuery,
  strayHeader,
  strayHeader,
  changeMethod,
  unwantedBody,
]

const ofBodies: readonly Mutation[] = [
  ...Array.from({ length: 8 }, () => spoilValue),
  spoilJsonText,
  spoilJsonText,
  spoilJsonText,
  spoilBytes,
  spoilBytes,
  packBody,
  sendBomb,
  sendTooMuch,
]

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Node reads a request line as bytes: a blank or a line break would end it, anything else goes. */
function printable(text: string): string {
  return text.toWellFormed().replaceAll(/\s/g, '+').replaceAll('\u0000', '+')
}

export function encodeCall({ method, target, headers, body, isChunked }: Call): readonly Buffer[] {
  const framing =
    body === null
      ? []
      : isChunked
        ? ['transfer-encoding: chunked']
        : [`content-length: ${body.length}`]
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...framing,
  ]
  // The target may hold any character, the headers Latin-1 only.
  const head = Buffer.from(
    `${lines.join('\r\n')}\r\n\r\n`,
    isBeyondLatin1(target) ? 'utf8' : 'latin1'
  )
  if (body === null) return [head]
  return isChunked ? [head, ...chunksOf(body)] : [head, body]
}

function chunksOf(body: Buffer): readonly Buffer[] {
  const sizeMax = Math.max(7, Math.ceil(body.length / 5))
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += sizeMax) {
    const part = body.subarray(at, at + sizeMax)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return [...parts, Buffer.from('0\r\n\r\n')]
}

function isBeyondLatin1(text: string): boolean {
  return Buffer.from(text, 'latin1').toString('latin1') !== text
}
