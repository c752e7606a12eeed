// What every request passes: closing, access, rate, body, handler, answer, in this order, so that a
// refusal never depends on what a caller without the right to know would learn from it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { authenticate, authorize } from '../access/authenticate.ts'
import { refuse, type Answer, type Call, type Handler } from '../access/handler.ts'
import type { AccessKey } from '../access/key.ts'
import { createRateLimiter, type RateLimiter } from '../access/rate-limit.ts'
import type { Operation } from '../contract/operation.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { boundUpload, readBody, uploadLimits } from './body.ts'
import type { CampaignDeps } from './deps.ts'
import { Failures } from './failures.ts'
import { PathTable } from './path-table.ts'
import { sendAnswer } from './send.ts'

const requestsPerMinuteDefault = 600

interface Route {
  readonly operation: Operation
  readonly handler: Handler
}

/** Either the key of the caller (null where none is asked for), or the refusal. */
type Admission =
  | { readonly ok: true; readonly key: AccessKey | null; readonly headers: Headers }
  | { readonly ok: false; readonly key: AccessKey | null; readonly answer: Answer }

type Headers = Readonly<Record<string, string>>

const closing: Answer = {
  ...refuse(503, ['The service is stopping; try again in a moment.']),
  headers: { 'retry-after': '5', connection: 'close' },
}

export class Gate {
  readonly #deps: CampaignDeps
  readonly #paths: PathTable
  readonly #rates: RateLimiter
  readonly #failures: Failures
  #isClosing = false

  constructor(deps: CampaignDeps, operations: readonly Operation[]) {
    this.#deps = deps
    this.#paths = new PathTable(operations)
    this.#failures = new Failures(deps)
    const requestsPerMinuteMax = deps.requestsPerMinuteMax ?? requestsPerMinuteDefault
    this.#rates = createRateLimiter({ clock: deps.clock, requestsPerMinuteMax })
  }

  startClosing(): void {
    this.#isClosing = true
  }

  async handle(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { operation } = route
    const startMs = performance.now()
    const abort = new AbortController()
    let keyId: string | undefined
    reply.raw.once('close', () => {
      const isAnswered = reply.raw.writableEnded
      if (!isAnswered) abort.abort()
      const ms = Math.round(performance.now() - startMs)
      const { statusCode: status } = reply.raw
      const fields = { requestId: request.id, route: operation.path, method: request.method }
      this.#deps.log.debug({ ...fields, keyId, status, isAnswered, ms }, 'request')
    })
    boundUpload(request.raw, operation.body?.isStream === true ? 'stream' : 'whole')

    const isGone = () => abort.signal.aborted || isAborted(request)
    const failure = { requestId: request.id, route: operation.path, isGone }
    try {
      const admission = this.#admit(operation, request)
      keyId = admission.key?.id
      if (!admission.ok) return await sendAnswer(reply, admission.answer)
      const answer = await this.#call(route, { request, key: admission.key, signal: abort.signal })
      const headers = { ...admission.headers, ...answer.headers }
      await sendAnswer(reply, { ...answer, headers }, (error) => {
        this.#failures.logBroken(error, failure)
      })
    } catch (error) {
      await sendAnswer(reply, this.#failures.answer(error, failure))
    }
  }

  /** What the framework itself throws; the messages are ours, as its own repeat the request. */
  async fail(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const failure = {
      requestId: request.id,
      route: 'before any route',
      isGone: () => isAborted(request),
    }
    await sendAnswer(reply, this.#failures.answer(error, failure))
  }

  refuseUrl(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
    const isTooLong = 'code' in error && error.code === 'FST_ERR_MAX_PARAM_LENGTH'
    const answer = isTooLong
      ? refuse(414, ['The path is too long.'])
      : refuse(400, ['The path has a broken percent escape.'])
    void sendAnswer(reply, answer)
  }

  async handleUnknown(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    boundUpload(request.raw, 'whole')
    if (this.#isClosing) return await sendAnswer(reply, closing)
    const allow = this.#paths.methodsOf(request.raw.url ?? '')
    if (allow === null) return await sendAnswer(reply, refuse(404, ['There is nothing here.']))
    const answer = refuse(405, ['The path does not take this method.'])
    await sendAnswer(reply, { ...answer, headers: { allow } })
  }

  #admit(operation: Operation, request: FastifyRequest): Admission {
    if (this.#isClosing) return { ok: false, key: null, answer: closing }
    const { access } = operation
    if (access === null) return { ok: true, key: null, headers: {} }

    const authentication = authenticate(request.raw.rawHeaders, this.#deps.keys)
    if (!authentication.ok) {
      const answer = refuse(401, [authentication.message])
      return {
        ok: false,
        key: null,
        answer: { ...answer, headers: { 'www-authenticate': 'Bearer' } },
      }
    }
    const { key } = authentication
    const rate = this.#takeRate(key)
    if (!rate.ok) return rate
    const advertiserId = access.isAdvertiserBound ? advertiserOf(request) : null
    const authorization = authorize(key, { scope: access.scope, advertiserId })
    if (authorization.ok) return rate
    const answer = refuse(403, [authorization.message])
    return { ok: false, key, answer: { ...answer, headers: rate.headers } }
  }

  #takeRate(key: AccessKey): Admission {
    if (key.isConfigured) return { ok: true, key, headers: {} }
    const rate = this.#rates.take(key.id)
    const headers = {
      'ratelimit-limit': String(rate.limit),
      'ratelimit-remaining': String(rate.remaining),
      'ratelimit-reset': String(rate.resetSeconds),
    }
    if (rate.isAllowed) return { ok: true, key, headers }
    const answer = refuse(429, [`A key may send ${rate.limit} requests a minute.`])
    const retryAfter = { 'retry-after': String(rate.retryAfterSeconds) }
    return { ok: false, key, answer: { ...answer, headers: { ...headers, ...retryAfter } } }
  }

  async #call(
    { operation, handler }: Route,
    caller: { readonly request: FastifyRequest } & Pick<Call, 'key' | 'signal'>
  ): Promise<Answer> {
    const { request, key, signal } = caller
    const isStream = operation.body?.isStream === true
    const isWhole = operation.body !== null && !isStream
    const bytesMax = uploadLimits.bytesMax[operation.operationId] ?? uploadLimits.bytesMaxDefault
    const body = isWhole ? await readBody(request.raw, bytesMax) : Buffer.alloc(0)
    if (body === 'too-large') return refuse(413, [`body must have at most ${bytesMax} bytes`])

    return await handler({
      key,
      signal,
      body,
      stream: isStream ? request.raw : null,
      pathParameters: pathParametersOf(request),
      query: queryOf(request),
    })
  }
}

/** The connection broke before the body was whole. */
function isAborted({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** Not a number that an id can be: no advertiser has it, and only a key for all may hear so. */
function advertiserOf(request: FastifyRequest): number | 'none-such' {
  return parsePositiveInt32(pathParametersOf(request)['advertiserId'] ?? '') ?? 'none-such'
}

function pathParametersOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(params ?? {})) parameters[name] = String(value)
  return parameters
}

function queryOf(request: FastifyRequest): URLSearchParams {
  const url = request.raw.url ?? ''
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
}
