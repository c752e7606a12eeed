// The tracking port on bare node:http: docs/decisions/0007-tracking-port-on-node-http.md says why.
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { Connections, boundConnections } from '../http/connections.ts'
import { AdEventHandler, linkMethods, missingToken } from './ad-event.ts'
import { answerJson, refusal, withHeaders } from './answers.ts'
import type { Answer } from './answers.ts'
import { BodyReader, refuseDeclaredLength } from './body.ts'
import { BackendHandler, conversionRoute, returnRoute } from './backend.ts'
import { headFaultOf, headFaults } from '../http/head-fault.ts'
import { answerPreflight } from './cors.ts'
import type { TrackingDeps } from './deps.ts'
import { TrackingFailures, unavailable } from './failures.ts'
import { answerProtocolErrors } from './protocol-errors.ts'
import { RequestCounts } from '../http/request-counts.ts'
import type { RouteCounts } from '../http/request-counts.ts'
import { findRoute, routePattern } from './router.ts'
import type { Route } from './router.ts'
import { Sender, type Exchange } from './sender.ts'

export const limits = {
  connectionsMax: 10_000,
  /** A token of 4 KiB with every character percent-encoded is a path of 16 KiB. */
  headerBytesMax: 32_768,
  /** Above the idle time of common load balancers (60 s), so that they and not we close first. Up to a check more. */
  keepAliveMs: 75_000,
  /** From the first byte, or from the start of a connection that sends none. */
  headersMs: 20_000,
  requestMs: 60_000,
  timeoutCheckMs: 5_000,
  drainMsMax: 5_000,
} as const

export interface TrackingServer {
  readonly server: Server
  /** The answers since the start. */
  readonly counts: () => readonly RouteCounts[]
  /** Called when the catalog has changed so that events may get other verdicts than before. */
  readonly forgetRepeats: () => void
  /** Connections refused or closed for want of room since the start. */
  readonly droppedConnections: () => number
  /** Stops accepting, answers what came in, then closes every connection; bounded in time. */
  readonly close: () => Promise<void>
}

const unknownPath = refusal('unknown-path', ['There is nothing at this path.'])
const brokenEscape = refusal('broken-escape', ['The path has a broken percent escape.'])
const alive = answerJson(200, '{"status":"alive"}')
const ready = answerJson(200, '{"status":"ready"}')
const notReady = unavailable('The service does not take traffic right now.', 'stopping')

type Reply = (answer: Answer | null) => void

export function createTrackingServer(deps: TrackingDeps): TrackingServer {
  const counts = new RequestCounts()
  const bounds = boundConnections(
    Math.min(limits.connectionsMax, deps.connectionsMax ?? Infinity),
    deps.trustProxy
  )
  let droppedConnections = 0
  const connections = new Connections(bounds, () => (droppedConnections += 1))
  const handler = new RequestHandler({ ...deps, connections }, counts)
  const server = listenerOf(deps, (request, response) => handler.handle(request, response))
  connections.watch(server)
  const idleCheck = setInterval(() => {
    connections.closeIdle({ nowMs: performance.now(), idleMsMax: limits.keepAliveMs })
  }, limits.timeoutCheckMs).unref()
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    handler.handleWaiting(request, response)
  })
  answerProtocolErrors(server, (answer) => counts.note('none', answer, 0))
  return {
    server,
    counts: () => counts.read(),
    forgetRepeats: () => handler.forgetRepeats(),
    droppedConnections: () => droppedConnections,
    close: async () => {
      clearInterval(idleCheck)
      handler.drain()
      await closeServer(server, connections, deps.drainMsMax ?? limits.drainMsMax)
    },
  }
}

function listenerOf({ tls }: TrackingDeps, listener: RequestListener): Server {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    // Idle connections are closed all at once, and the header that announces it is ours.
    keepAliveTimeout: 0,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // Node's own refusal has no body; ours does.
    requireHostHeader: false,
  }
  const server =
    tls === undefined
      ? createHttpServer(options, listener)
      : createHttpsServer({ ...options, ...tls, minVersion: 'TLSv1.2' }, listener)
  // Only after the handshake: before it, nothing would end our half.
  server.on('secureConnection', (socket: Socket) => (socket.allowHalfOpen = true))
  // Undocumented. Without it, a sender that ends its half after a request gets no answer, although its event is stored.
  return Object.assign(server, { httpAllowHalfOpen: true })
}

/** Node closes idle connections once; those that fall idle later are closed as they do. */
async function closeServer(
  server: Server,
  connections: Connections,
  drainMsMax: number
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  const idle = setInterval(() => server.closeIdleConnections(), 20)
  const late = setTimeout(() => connections.closeAll(), drainMsMax)
  await closed
  clearInterval(idle)
  clearTimeout(late)
}

class RequestHandler {
  readonly #deps: TrackingDeps & { readonly connections: Connections }
  readonly #counts: RequestCounts
  readonly #bodies: BodyReader
  readonly #adEvents: AdEventHandler
  readonly #conversions: BackendHandler
  readonly #returns: BackendHandler
  readonly #failures: TrackingFailures
  readonly #sender: Sender
  readonly #isLogging: boolean
  #isDraining = false

  constructor(deps: TrackingDeps & { readonly connections: Connections }, counts: RequestCounts) {
    this.#deps = deps
    this.#counts = counts
    this.#failures = new TrackingFailures(deps)
    this.#bodies = new BodyReader(deps.connections)
    const parts = { ...deps, bodies: this.#bodies, failures: this.#failures }
    this.#adEvents = new AdEventHandler(parts)
    this.#conversions = new BackendHandler(parts, conversionRoute(deps.hashIdentity))
    this.#returns = new BackendHandler(parts, returnRoute)
    this.#sender = new Sender({
      clock: deps.clock,
      isTls: deps.tls !== undefined,
      keepAliveMs: limits.keepAliveMs,
    })
    this.#isLogging = deps.log.isLevelEnabled('debug')
  }

  forgetRepeats(): void {
    this.#adEvents.forgetRepeats()
  }

  drain(): void {
    this.#isDraining = true
  }

  /** The sender waits with its body. A refusal that does not depend on the body comes before it. */
  handleWaiting(request: IncomingMessage, response: ServerResponse): void {
    this.#bodies.noteWaiting(request, response)
    this.handle(request, response)
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const startMs = performance.now()
    this.#deps.connections.use(request.socket)
    const route = findRoute(request.url ?? '')
    const pattern = routePattern(route)
    const exchange = { request, response, hasCors: hasCors(route) }
    if (this.#isLogging) this.#log(pattern, request, response)
    const reply: Reply = (answer) => {
      if (answer === null) return
      this.#counts.note(pattern, answer, performance.now() - startMs)
      if (this.#isDraining) response.shouldKeepAlive = false
      this.#sender.send(exchange, answer)
    }
    this.#failures.guard(pattern, reply, () => this.#dispatch(route, exchange, reply))
  }

  #dispatch(route: Route, { request, response }: Exchange, reply: Reply): void {
    const { headers, method = '' } = request
    const headFault = headFaultOf(request)
    if (headFault !== null) {
      // Nobody knows where the next request begins.
      response.shouldKeepAlive = false
      return reply(refusal(headFault, [headFaults[headFault]]))
    }
    const tooLong = refuseDeclaredLength(headers)
    if (tooLong !== undefined) return reply(tooLong)
    switch (route.name) {
      case 'conversion':
      case 'return': {
        if (method !== 'POST') return reply(notAllowed('POST'))
        const backend = route.name === 'return' ? this.#returns : this.#conversions
        return backend.handle(request, reply)
      }
      case 'ad-event':
        if (method === 'OPTIONS') return reply(answerPreflight(headers, linkMethods))
        if (!isLinkMethod(method)) return reply(notAllowed(linkMethods))
        return this.#adEvents.handle({ request, kind: route.kind, token: route.token }, reply)
      case 'missing-token':
        return reply(missingToken)
      case 'alive':
      case 'ready':
        if (method !== 'GET' && method !== 'HEAD') return reply(notAllowed('GET, HEAD'))
        return reply(route.name === 'alive' ? alive : this.#readiness())
      case 'broken-escape':
        return reply(brokenEscape)
      case 'unknown':
        return reply(unknownPath)
    }
  }

  #readiness(): Answer {
    return this.#deps.isReady() && !this.#isDraining ? ready : notReady
  }

  #log(route: string, { method }: IncomingMessage, response: ServerResponse): void {
    const startMs = performance.now()
    let isAnswered = false
    response.on('finish', () => (isAnswered = true))
    response.on('close', () => {
      const { statusCode: status } = response
      const ms = Math.round(performance.now() - startMs)
      const fields = { route, method, status, isAnswered, ms }
      this.#deps.log.debug(fields, 'request')
    })
  }
}

function hasCors(route: Route): boolean {
  return route.name === 'ad-event' || route.name === 'missing-token'
}

function isLinkMethod(method: string): boolean {
  return method === 'POST' || method === 'GET' || method === 'HEAD'
}

function notAllowed(allow: string): Answer {
  return withHeaders(refusal('method', ['The path does not take this method.']), ['allow', allow])
}
