// Calls the admin API of a running server, local or remote. It uses Node's own HTTP client, because an upload
// may be endless and must learn of a refusal before its end.
import {
  request as requestHttp,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Type, TSchema } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import { compileParser } from '../contract/validate.ts'
import { CliError, RefusedError } from './command.ts'
import { explainConnection } from './connection-failure.ts'
import { printable } from './table.ts'

export interface AdminCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Behind `/admin/v1`. */
  readonly path: string
  readonly body?: Buffer | Readable
  /** Sent as JSON, instead of a body. */
  readonly json?: object
  readonly contentType?: string
  /** It is one of many, and its body can be sent again. */
  readonly waitsForLimit?: boolean
}

const silenceMsMax = 120_000

/** Which port it is, is a courtesy of a refusal. */
const probeMsMax = 2_000

const limitedTriesMax = 5
const waitSecondsMax = 60

export const isThisOurs = 'Is this the campaign port of Shelftrace?'

/** The service gives no such answer without a message, but proxies do. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Most answers of the admin API are small, but a catalog may be large. */
const answerBytesMax = 268_435_456

interface Server {
  readonly url: URL
  readonly key: string
  /** Puts a message of the API into the words of the command line. */
  readonly explain: (message: string) => string
}

/**
 * Makes one call. Resolves with the answer as the schema says, null if it has no body; another server, or
 * another version, may answer something else. Throws a CliError for that and for everything that fails.
 */
export async function callServer<Schema extends TSchema>(
  server: Server,
  schema: Schema,
  call: AdminCall
): Promise<Immutable<Type.Static<Schema>>> {
  const answer = await fetchAnswer(server, call)
  const parsed = compileParser(schema)(answer)
  if (parsed.ok) return parsed.value
  throw new CliError(
    `Unexpected answer from the server. Does its version match this command line? (${parsed.messages.join('; ')})`
  )
}

/** An answer that is not JSON, with its headers. Throws as `callServer` does. */
export async function callForText(
  server: Server,
  call: AdminCall
): Promise<Pick<RawAnswer, 'text' | 'headers'>> {
  try {
    const answer = await sendPatiently(server, { ...call, waitsForLimit: true })
    await refuseFailure(answer, server)
    return answer
  } catch (error) {
    throw await explainConnection(error, server.url)
  }
}

/** Many requests in a row may reach the limit of the key: then it asks again after as long as a 429 says. */
async function sendPatiently(server: Server, call: AdminCall): Promise<RawAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await send(server, call)
    const isPatient = call.waitsForLimit === true && tries < limitedTriesMax
    const waitMs = isPatient ? waitMsOf(answer) : null
    if (waitMs === null) return answer
    await sleep(waitMs)
  }
}

/** Null for an answer that is no limit, or that wants more patience than a page is worth. */
function waitMsOf({ status, headers }: RawAnswer): number | null {
  const seconds = Number(headers['retry-after'] ?? Number.NaN)
  return status === 429 && seconds >= 0 && seconds <= waitSecondsMax ? seconds * 1_000 : null
}

async function fetchAnswer(server: Server, call: AdminCall): Promise<unknown> {
  try {
    return await readAnswer(await sendPatiently(server, call), server)
  } catch (error) {
    throw await explainConnection(error, server.url)
  }
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

async function send(
  { url, key }: Server,
  { method, path, json, contentType = 'application/json', ...call }: AdminCall
): Promise<RawAnswer> {
  const body = json === undefined ? call.body : Buffer.from(JSON.stringify(json))
  const target = new URL(`${url.pathname.replace(/\/+$/, '')}/admin/v1${path}`, url)
  const length = Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {}
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': contentType, ...length }),
  }
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(target, {
    method,
    headers,
    agent: false,
  })
  // A server that stays silent for this long after the whole request will not answer at all.
  request.once('finish', () => {
    request.setTimeout(silenceMsMax, () => {
      request.destroy(new CliError('The server did not answer in time.'))
    })
  })
  const answered = answerOf(request)
  try {
    if (body === undefined || Buffer.isBuffer(body)) {
      request.end(body)
      return await readText(await answered)
    }
    body.once('error', (error) => request.destroy(error))
    body.pipe(request)
    const response = await answered
    // After a refusal there is no need to send the rest.
    body.unpipe(request)
    return await readText(response)
  } finally {
    request.destroy()
  }
}

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    // Errors may follow after the server has answered and closed; they change nothing.
    request.on('error', reject)
  })
}

async function readText(response: IncomingMessage): Promise<RawAnswer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > answerBytesMax)
      throw new CliError('The answer of the server is longer than 256 MiB.')
    chunks.push(part)
  }
  const { statusCode: status = 0, headers } = response
  return { status, headers, text: Buffer.concat(chunks).toString('utf8') }
}

async function readAnswer(answer: RawAnswer, server: Server): Promise<unknown> {
  await refuseFailure(answer, server)
  return answer.text === '' ? null : parseJson(answer.text)
}

async function refuseFailure({ status, text, headers }: RawAnswer, server: Server): Promise<void> {
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400) throw redirected(status, headers.location, server)
  if (status === 404 && (await isTrackingPort(server))) {
    throw new CliError(
      `${server.url.origin} is the tracking port, which takes events only. Name the campaign port (8081 unless ` +
        'SHELFTRACE_CAMPAIGN_PORT says another) with --url or SHELFTRACE_URL.'
    )
  }
  const messages = refusalMessages(text)
  if (gatewayStatuses.has(status) && (messages ?? []).length === 0) {
    throw new CliError(
      `${server.url.origin} answered ${status}: a proxy is there, and the service behind it is down or cannot be reached.`
    )
  }
  if (messages === null) {
    throw new CliError(`${server.url.origin} answered ${status}, and not in JSON. ${isThisOurs}`)
  }
  const told = messages.map((message) => `\n  ${server.explain(message)}`)
  const words = `${refusalWords(status)}${told.join('')}`
  throw status === 422 ? new RefusedError(words, messages) : new CliError(words)
}

/** Not followed: the key is for the address that was named. */
function redirected(status: number, location: string | undefined, { url }: Server): CliError {
  const target = URL.canParse(location ?? '', url.href) ? new URL(location ?? '', url) : url
  const where = target === url ? '' : ` to ${printable(target.origin + target.pathname)}`
  return new CliError(
    `${url.origin} leads elsewhere${where} (${status}), which the service never does: a proxy is there. Name the ` +
      'address behind it with --url or SHELFTRACE_URL; if it wants people to sign in, one that it lets programs use.'
  )
}

/** Only the tracking port has this path, and it takes no GET there. It gets no key. */
async function isTrackingPort({ url }: Server): Promise<boolean> {
  const target = new URL(`${url.pathname.replace(/\/+$/, '')}/conversion`, url)
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(target, { agent: false })
  request.setTimeout(probeMsMax, () => request.destroy(new Error('no answer in time')))
  try {
    const answered = answerOf(request)
    request.end()
    return (await answered).statusCode === 405
  } catch {
    // Then the first answer says all that is known.
    return false
  } finally {
    request.destroy()
  }
}

function refusalWords(status: number): string {
  switch (status) {
    case 401:
      return 'The server does not know this key (401). Set SHELFTRACE_KEY to a key that it knows.'
    case 403:
      return 'This key is not allowed to do that (403).'
    case 422:
      return 'The server refused the request (422):'
    default:
      return `The server answered ${status}.`
  }
}

/** Null for a text that is not JSON. No message can control the terminal. */
function refusalMessages(text: string): readonly string[] | null {
  if (text === '') return []
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json !== 'object' || json === null || !('messages' in json)) return []
    return Array.isArray(json.messages) ? json.messages.map(String).map(printable) : []
  } catch {
    // The caller says more than the parser would.
    return null
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CliError(`The answer is not JSON. ${isThisOurs}`, { cause })
  }
}
