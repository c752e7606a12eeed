// Every request passes the same steps in this order: closing, access, rate, body, handler, answer. So no
// refusal tells a caller anything that the caller has no right to know.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuse, type Answer, type Call, type Handler } from '../http/handler.ts'
import { headFaults, type HeadFault } from '../http/head-fault.ts'
import { sourceAddress } from '../http/source-address.ts'
import type { Operation } from '../contract/operation.ts'
import { Admissions, pathParametersOf, type Admission } from './admission.ts'
import { BodyBudget } from './body-budget.ts'
import { boundUpload, readBody, uploadLimits } from './body.ts'
import type { CampaignDeps } from './deps.ts'
import { CampaignFailures } from './failures.ts'
import { OpenCalls } from './open-calls.ts'
import { PathTable } from './path-table.ts'
import { RefusedCalls, type RefusalReason } from './refused-calls.ts'
import { sendAnswer } from './send.ts'
import { compressAnswer } from '../http/compress.ts'
import { parseTraceparent } from '../tracing/tracing.ts'

interface Route {
  readonly operation: Operation
  readonly handler: Handler
}

interface Admitted {
  readonly admission: Admission & { readonly ok: true }
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly signal: AbortSignal
}

const closing: Answer = {
  ...refuse('SERVICE_STOPPING', ['The service is stopping; try again in a moment.']),
  headers: { 'retry-after': '5', connection: 'close' },
}

const ownBodiesFull: Answer = {
  ...refuse('KEY_BODIES_EXCEEDED', ['The key sends too much at once; try again in a moment.']),
  headers: { 'retry-after': '2' },
}

const allBodiesFull: Answer = {
  ...refuse('SERVICE_BUSY', ['Too much is being sent at once; try again in a moment.']),
  headers: { 'retry-after': '2' },
}

export class Gate {
  readonly #deps: CampaignDeps
  readonly #paths: PathTable
  readonly #admissions: Admissions
  readonly #failures: CampaignFailures
  readonly #calls: OpenCalls
  readonly #refused: RefusedCalls
  readonly #bodies = new BodyBudget()
  #isClosing = false

  constructor(deps: CampaignDeps, operations: readonly Operation[]) {
    this.#deps = deps
    this.#paths = new PathTable(operations)
    this.#failures = new CampaignFailures(deps)
    this.#admissions = new Admissions(deps)
    this.#calls = new OpenCalls(deps)
    this.#refused = new RefusedCalls(deps)
  }

  startClosing(): void {
    this.#isClosing = true
    this.#calls.close()
  }

  /** Once the last call has been answered. */
  close(): void {
    this.#refused.close()
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
      this.#deps.metrics.noteAnswer({
        operation: operation.operationId,
        status,
        seconds: ms / 1_000,
      })
      const fields = { requestId: request.id, route: operation.path, method: request.method }
      this.#deps.log.debug({ ...fields, keyId, status, isAnswered, ms }, 'request')
    })
    const isStream = operation.body?.isStream === true
    boundUpload(request.raw, isStream ? 'stream' : 'whole')

    const isGone = () => abort.signal.aborted || isAborted(request)
    const failure = { requestId: request.id, route: operation.path, isGone }
    try {
      const admission = this.#admit(operation, request)
      keyId = admission.key?.id
      const { signal } = abort
      const answer = admission.ok
        ? await this.#answer(route, { admission, request, reply, signal })
        : admission.answer
      this.#noteRefusal(operation, { admission, answer, request })
      const { 'accept-encoding': acceptEncoding = '' } = request.headers
      sendAnswer(reply, await compressAnswer(answer, acceptEncoding))
    } catch (error) {
      sendAnswer(reply, this.#failures.answer(error, failure))
    }
  }

  async #answer(route: Route, { admission, request, reply, signal }: Admitted): Promise<Answer> {
    const { key, headers } = admission
    const overload = this.#calls.refusalOf(key)
    if (overload !== null) return overload
    const isStream = route.operation.body?.isStream === true
    this.#calls.watch({ key, request: request.raw, response: reply.raw, isStream })
    const call = () => this.#call(route, { request, key, signal })
    const answer = await this.#traced(route.operation, request, call)
    return { ...answer, headers: { ...headers, ...answer.headers } }
  }

  /** Callers here have a key, so they may ask for a trace of their call; strangers to the tracking port may not. */
  async #traced(
    { operationId, path }: Operation,
    request: FastifyRequest,
    call: () => Promise<Answer>
  ): Promise<Answer> {
    const { tracing } = this.#deps
    if (tracing === undefined || tracing === null) return await call()
    const { traceparent } = request.headers
    const parent = typeof traceparent === 'string' ? traceparent : undefined
    const isAsked = parent !== undefined && parseTraceparent(parent) !== null
    if (!isAsked && !tracing.toss()) return await call()
    const attributes = { 'http.request.method': request.method, 'http.route': path }
    return await tracing.run(operationId, { parent, attributes }, call)
  }

  #noteRefusal(
    { operationId: operation }: Operation,
    {
      admission,
      answer,
      request,
    }: {
      readonly admission: Admission
      readonly answer: Answer
      readonly request: FastifyRequest
    }
  ): void {
    const reason = admission.ok ? reasonOf(answer) : admission.reason
    if (reason === null) return
    const keyId = admission.ok ? (admission.key?.id ?? null) : admission.keyId
    const address = this.#addressOf(request)
    this.#refused.note({ reason, keyId, address, operation })
  }

  #addressOf({ raw }: FastifyRequest): string | null {
    return sourceAddress(raw, this.#deps.trustProxy ?? false)
  }

  /** For errors of the framework itself; the messages are ours, because its own repeat the request. */
  fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const failure = {
      requestId: request.id,
      route: 'before any route',
      isGone: () => isAborted(request),
    }
    sendAnswer(reply, this.#failures.answer(error, failure))
  }

  refuseUrl(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
    const isTooLong = 'code' in error && error.code === 'FST_ERR_MAX_PARAM_LENGTH'
    const answer = isTooLong
      ? refuse('PATH_TOO_LONG', ['The path is too long.'])
      : refuse('PATH_MALFORMED', ['The path has a broken percent escape.'])
    sendAnswer(reply, answer)
  }

  refuseHead(fault: HeadFault, reply: FastifyReply): void {
    // Nobody knows where the next request begins.
    void reply.header('connection', 'close')
    sendAnswer(reply, refuse('HTTP_MALFORMED', [headFaults[fault]]))
  }

  handleUnknown(request: FastifyRequest, reply: FastifyReply): void {
    boundUpload(request.raw, 'whole')
    const startMs = performance.now()
    reply.raw.once('close', () => {
      const seconds = (performance.now() - startMs) / 1_000
      this.#deps.metrics.noteAnswer({ operation: 'none', status: reply.raw.statusCode, seconds })
    })
    if (this.#isClosing) return sendAnswer(reply, closing)
    const allow = this.#paths.methodsOf(request.raw.url ?? '')
    if (allow === null) return sendAnswer(reply, refuse('PATH_UNKNOWN', ['There is nothing here.']))
    const answer = refuse('METHOD_NOT_ALLOWED', ['The path does not take this method.'])
    sendAnswer(reply, { ...answer, headers: { allow } })
  }

  #admit(operation: Operation, request: FastifyRequest): Admission {
    if (this.#isClosing) return { ok: false, key: null, answer: closing, reason: null, keyId: null }
    return this.#admissions.admit(operation, request)
  }

  async #call(
    { operation, handler }: Route,
    caller: { readonly request: FastifyRequest } & Pick<Call, 'key' | 'signal'>
  ): Promise<Answer> {
    const { request, key, signal } = caller
    const isStream = operation.body?.isStream === true
    const isWhole = operation.body !== null && !isStream
    const bytesMax = uploadLimits.bytesMax[operation.operationId] ?? uploadLimits.bytesMaxDefault
    const share = this.#bodies.open(key?.id ?? '', bytesMax)
    try {
      const body = isWhole ? await readBody(request.raw, { bytesMax, share }) : Buffer.alloc(0)
      if (body === 'too-large')
        return refuse('BODY_TOO_LARGE', [`body must have at most ${bytesMax} bytes`])
      if (body === 'own-full') return ownBodiesFull
      if (body === 'all-full') return allBodiesFull
      return await handler({
        key,
        signal,
        body,
        stream: isStream ? request.raw : null,
        contentEncoding: request.headers['content-encoding'] ?? null,
        pathParameters: pathParametersOf(request),
        query: queryOf(request),
        sourceAddress: this.#addressOf(request),
      })
    } finally {
      share.close()
    }
  }
}

/** Refusals by handlers and by bounds, which say no more than their status. */
function reasonOf({ status }: Answer): RefusalReason | null {
  if (status === 403) return 'forbidden'
  return status === 429 ? 'limit' : null
}

/** The connection broke before the body was whole. */
function isAborted({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

function queryOf({ raw: { url = '' } }: FastifyRequest): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
}
