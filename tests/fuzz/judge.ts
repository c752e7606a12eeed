// What every answer must be, whatever was asked.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { TSchema } from 'typebox'
import type { Operation } from '../../src/contract/operation.ts'
import { exceptionResponseSchema, type OperationResponse } from '../../src/contract/responses.ts'
import { errorCodeHeader, isRefusalCode, refusalKinds } from '../../src/contract/refusal-codes.ts'
import { compile, type Validate } from '../../src/contract/validate.ts'
import type { Call } from './call.ts'
import type { RawCall } from './raw-call.ts'
import type { Heard, Reply } from './wire.ts'

/** What a request can be refused with before anybody knows which operation it is for. */
const protocolStatuses = new Set([400, 401, 403, 404, 405, 408, 413, 414, 417, 422, 429, 431, 503])

const gateHeaders = [
  'cache-control',
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
]

// Of the inside: stacks, files, the warehouse's words. None of it is in what the requests are made of.
const insides =
  /(?:\n|\\n)\s+at \S|node:internal|node_modules|\/dist\/|\.[jt]s:\d+|DB::|chdb|clickhouse|JSONEachRow|Code: \d+|\bE(?:NOENT|ACCES|CONN\w+|PIPE)\b|(?:Type|Range|Syntax|Reference)Error|Unexpected token|SQLSTATE|\bFROM (?:ad_event|delivery|touchpoint|purchase|catalog_entry)\b/

/** Of the landing pages in the tokens of a run. */
const landingOrigin = 'https://shop.example/'

const validators = new WeakMap<TSchema, Validate>()

/** Nothing when all is well. */
export function judgeCall(call: Call, heard: Heard, secrets: readonly string[]): readonly string[] {
  const [reply] = heard.replies
  if (reply === undefined || heard.fault !== 'none') return [`the connection: ${heard.fault}`]
  return [
    ...judgeReply(reply, secrets, mayShowKey(call)),
    ...judgeStatus(call, reply),
    ...judgeContent(call, reply),
    ...(call.port === 'campaign' ? judgeHeaders(reply) : []),
  ]
}

export function judgeRawCall(
  call: RawCall,
  heard: Heard,
  secrets: readonly string[]
): readonly string[] {
  const { replies, fault } = heard
  const statuses = replies.map(({ status }) => status)
  const count = replies.length
  const isAllowed = (status: number) => call.statuses === null || call.statuses.includes(status)
  return [
    ...(fault === 'malformed' || fault === 'timeout' ? [`the connection: ${fault}`] : []),
    ...(count < call.repliesMin ? [`${count} answers, not ${call.repliesMin}`] : []),
    ...statuses.filter((status) => !isAllowed(status)).map((status) => `status ${status}`),
    ...replies.flatMap((reply) => judgeReply(reply, secrets, false)),
  ]
}

function judgeReply(
  reply: Reply,
  secrets: readonly string[],
  isKeyShown: boolean
): readonly string[] {
  const { status, headers, body } = reply
  const all = `${headers.map((header) => header.join(': ')).join('\n')}\n\n${body.toString('latin1')}`
  const faults: string[] = []
  if (status >= 500 && status !== 503) faults.push(`status ${status}`)
  if (status === 503 && valueOf(reply, 'retry-after') === undefined)
    faults.push('503 without retry-after')
  const inside = insides.exec(all)
  if (inside !== null) faults.push(`it tells of the inside: ${JSON.stringify(inside[0])}`)
  if (!isKeyShown && secrets.some((secret) => all.includes(secret)))
    faults.push('it holds a secret')
  const location = valueOf(reply, 'location')
  if (location !== undefined && !location.startsWith(landingOrigin)) {
    faults.push(`it leads to ${location}`)
  }
  if (valueOf(reply, 'set-cookie') !== undefined) faults.push('it sets a cookie')
  faults.push(...judgeCode(status, valueOf(reply, errorCodeHeader)))
  if (status === 401 && valueOf(reply, 'www-authenticate') === undefined)
    faults.push('401 without www-authenticate')
  if (
    status === 405 &&
    valueOf(reply, 'allow') === undefined &&
    valueOf(reply, 'connection') !== 'close'
  ) {
    faults.push('405 without allow')
  }
  return faults
}

/** A refusal has a code of its status, and nothing else has one. */
function judgeCode(status: number, code: string | undefined): readonly string[] {
  if (status < 400) return code === undefined ? [] : ['a code without a refusal']
  if (code === undefined) return [`${status} without a code`]
  const isKnown = isRefusalCode(code) && refusalKinds[code].status === status
  return isKnown ? [] : [`the code ${code} is not one of ${status}`]
}

function mayShowKey({ operation }: Call): boolean {
  return operation.operationId === 'createKey'
}

function judgeStatus(call: Call, reply: Reply): readonly string[] {
  const { status } = reply
  const { operationId, responses } = call.operation
  const declared = statusesOf(call.operation)
  if (declared.has(status)) {
    const listed = responses.find((response) => response.status === String(status))
    const { codes } = listed ?? responses.find((response) => response.status === 'default') ?? {}
    const code = valueOf(reply, errorCodeHeader) ?? ''
    const isKnown = !call.isRouted || status < 400 || codes?.some((one) => one === code) === true
    return isKnown ? [] : [`the code ${code} is not documented for ${operationId}`]
  }
  const isKnown = !call.isRouted && (protocolStatuses.has(status) || isPreflight(call, status))
  return isKnown ? [] : [`status ${status} is not documented for ${operationId}`]
}

function isPreflight({ method }: Call, status: number): boolean {
  return method === 'OPTIONS' ? status === 204 : status < 400
}

/** Those that are listed, and those that the text of `default` names. */
function statusesOf({ responses }: Operation): ReadonlySet<number> {
  return new Set(
    responses.flatMap(({ status, description }) =>
      status === 'default'
        ? (description.match(/\b[45]\d\d\b/g) ?? []).map(Number)
        : [Number(status)]
    )
  )
}

function judgeContent({ operation, method, isRouted }: Call, reply: Reply): readonly string[] {
  const { status, body } = reply
  if (status >= 400) return method === 'HEAD' ? [] : judgeJson(reply, exceptionResponseSchema)
  if (!isRouted) return []
  const declared = operation.responses.find((response) => response.status === String(status))
  if (declared === undefined) return []
  if (declared.content === null || method === 'HEAD') {
    return body.length === 0 ? [] : ['a body where none is documented']
  }
  return judgeBody(reply, declared.content)
}

function judgeBody(
  reply: Reply,
  content: NonNullable<OperationResponse['content']>
): readonly string[] {
  const type = valueOf(reply, 'content-type') ?? ''
  if (!type.startsWith(content.mediaType)) return [`the type ${type} is not ${content.mediaType}`]
  if (content.mediaType === 'application/json') return judgeJson(reply, content.schema)
  return content.mediaType === 'application/x-ndjson' ? judgeLines(reply, content.schema) : []
}

/** One value a line, each of which ends. */
function judgeLines({ body }: Reply, schema: TSchema): readonly string[] {
  const lines = body.toString().split('\n')
  const faults = lines.at(-1) === '' ? [] : ['the last line has no end']
  return [...faults, ...lines.slice(0, -1).flatMap((line) => judgeText(line, schema))].slice(0, 2)
}

function judgeJson(reply: Reply, schema: TSchema): readonly string[] {
  const type = valueOf(reply, 'content-type') ?? ''
  if (!type.startsWith('application/json')) return [`the type ${type} is not JSON`]
  return judgeText(plainBody(reply).toString(), schema)
}

/** Without the coding that the call accepted. */
function plainBody(reply: Reply): Buffer {
  const coding = valueOf(reply, 'content-encoding')
  if (coding === 'br') return brotliDecompressSync(reply.body)
  return coding === 'gzip' ? gunzipSync(reply.body) : reply.body
}

function judgeText(text: string, schema: TSchema): readonly string[] {
  let validate = validators.get(schema)
  if (validate === undefined) {
    validate = compile(schema)
    validators.set(schema, validate)
  }
  try {
    const value: unknown = JSON.parse(text)
    return validate(value)
      .slice(0, 2)
      .map((message) => `the body: ${message}`)
  } catch {
    // The parser's message would only repeat what the finding shows.
    return ['the body is not JSON']
  }
}

function judgeHeaders(reply: Reply): readonly string[] {
  return gateHeaders
    .filter((name) => valueOf(reply, name) === undefined)
    .map((name) => `the header ${name} is missing`)
}

function valueOf({ headers }: Reply, name: string): string | undefined {
  return headers.find(([own]) => own === name)?.[1]
}
