// The campaign port: campaign operations, admin API, health and documents. Every route is in the table of
// operations with its access rule; what is not in the table cannot be reached.
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { randomUUID } from 'node:crypto'
import { fastify, type FastifyInstance } from 'fastify'
import { Connections, boundConnections } from '../http/connections.ts'
import { endWith, noTunnels, protocolErrorOf, tlsOnly } from '../http/protocol-errors.ts'
import { headFaultOf } from '../http/head-fault.ts'
import { refuse, type Handler, type HandlerTable } from '../http/handler.ts'
import { errorCodeHeader } from '../contract/refusal-codes.ts'
import type { Operation } from '../contract/operation.ts'
import { operations as contractOperations } from '../contract/operations.ts'
import { assert } from '../lib/assert.ts'
import { createAccountHandlers } from './operations/account.ts'
import { createAddAsset } from './operations/add-asset.ts'
import type { CampaignDeps } from './deps.ts'
import { Gate } from './gate.ts'
import { createReadIntake } from './operations/intake.ts'
import { createOperatorHandlers } from './operator.ts'
import { answersHead } from './path-table.ts'
import { ReportPlaces } from './report-places.ts'
import { commonHeaders, jsonType } from './send.ts'
import { createAttributionHandlers } from './operations/report/attributions.ts'
import { createGroupHandlers } from './operations/report/groups.ts'
import { createSummaryHandlers } from './operations/report/summary.ts'
import { createReportHandlers } from './operations/report/product-report.ts'
import { createDownloadTrafficQuality } from './operations/report/traffic-quality.ts'
import { createSiteLocations } from './operations/site-locations.ts'

export const limits = {
  connectionsMax: 5_000,
  headerBytesMax: 32_768,
  /** Above the idle time of common load balancers (60 s), so that they and not we close first. */
  keepAliveMs: 75_000,
  /** From the first byte, or from the start of a connection that sends none. */
  headersMs: 20_000,
  timeoutCheckMs: 5_000,
  /** The same limit as for the whole head, so that handlers judge parameters of every length. */
  paramLengthMax: 32_768,
  drainMsMax: 5_000,
  idleCloseMs: 20,
} as const

/** Ready to `listen` or `inject`. `close` answers what came in, within `drainMsMax`. */
export function buildCampaignApp(deps: CampaignDeps): FastifyInstance {
  const handlers = collectHandlers(deps)
  const operations = portOperations(deps)
  const gate = new Gate(deps, operations)
  const bounds = boundConnections(
    Math.min(limits.connectionsMax, deps.connectionsMax ?? Infinity),
    deps.trustProxy ?? false
  )
  const connections = new Connections(bounds, () => deps.metrics.noteDroppedConnection())
  const app = fastify({
    // All logging is ours: the framework's lines would hold raw paths.
    logger: false,
    // The contract has checks of its own. The framework would load those that it has for nothing.
    schemaController: {
      compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
    },
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    // The gate says it itself, in the shape of every other refusal.
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.paramLengthMax },
    serverFactory: (listener) => {
      const server = createListener(deps, (request, response) => {
        connections.use(request.socket)
        listener(request, response)
      })
      connections.watch(server)
      answerUnmetExpectations(server)
      server.on('connect', (_request, socket) => endWith(socket, noTunnels, bareHeaders))
      return server
    },
    clientErrorHandler: (error, socket) => endWith(socket, protocolErrorOf(error), bareHeaders),
    frameworkErrors: (error, request, reply) => gate.refuseUrl(error, request, reply),
  })
  refuseUndeclaredRoutes(app)
  leaveBodiesUnread(app)
  refuseAmbiguousHeads(app, gate)
  app.setErrorHandler((error, request, reply) => gate.fail(error, request, reply))
  app.setNotFoundHandler((request, reply) => gate.handleUnknown(request, reply))
  for (const operation of operations) {
    const handler = handlers.get(operation.operationId)
    assert(handler !== undefined, `operation ${operation.operationId} has a handler`)
    addRoute(app, gate, { operation, handler })
  }
  drainOnClose(app, () => gate.startClosing(), { connections, ...deps })
  app.addHook('onClose', (_app, done) => {
    gate.close()
    done()
  })
  return app
}

/** Of answers that are written to the bare socket. */
const bareHeaders = { ...commonHeaders, ...jsonType }

function refuseSchemas(): never {
  throw new Error('routes have no schemas of the framework')
}

/** The operations of the port and the public pages, which are operations without a document. */
function portOperations(deps: CampaignDeps): readonly Operation[] {
  const table = deps.operations ?? contractOperations
  return [
    ...table.filter((operation) => operation.ports.includes('campaign')),
    ...(deps.pages ?? []).map((page) => pageOperation(page.path)),
  ]
}

function pageOperation(path: string): Operation {
  return {
    operationId: `page ${path}`,
    method: 'get',
    path,
    ports: ['campaign'],
    tag: 'Operator',
    summary: 'A page',
    description: 'A public page.',
    access: null,
    body: null,
    responses: [],
    addition: true,
  }
}

function collectHandlers(deps: CampaignDeps): ReadonlyMap<string, Handler> {
  const places = new ReportPlaces({
    placesMax: deps.reportPlacesMax,
    perKeyMax: deps.reportsPerKeyMax,
    waitMsMax: deps.reportWaitMsMax,
  })
  const tables: readonly HandlerTable[] = [
    createReportHandlers(deps, places),
    createGroupHandlers(deps, places),
    createSummaryHandlers(deps, places),
    createAttributionHandlers(deps, places),
    createReadIntake(deps, places),
    createDownloadTrafficQuality(deps, places),
    createAddAsset(deps),
    createSiteLocations(deps),
    createAccountHandlers(deps),
    createOperatorHandlers(deps),
    deps.adminHandlers,
  ]
  const handlers = new Map<string, Handler>()
  for (const [id, handler] of tables.flatMap((table) => Object.entries(table))) {
    assert(!handlers.has(id), `operation ${id} has one handler`)
    handlers.set(id, handler)
  }
  for (const { path, answer } of deps.pages ?? []) {
    handlers.set(`page ${path}`, () => Promise.resolve(answer))
  }
  return handlers
}

interface Route {
  readonly operation: Operation
  readonly handler: Handler
}

function addRoute(app: FastifyInstance, gate: Gate, route: Route): void {
  const { operation } = route
  app.route({
    method: operation.method.toUpperCase(),
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation },
    exposeHeadRoute: answersHead(operation),
    handler: (request, reply) => gate.handle(route, request, reply),
  })
}

/** A route that a plugin brings along would have no rule of access: it ends the start instead. */
function refuseUndeclaredRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', ({ config, url }) => {
    const isDeclared = config !== undefined && 'operation' in config
    assert(isDeclared, `the route ${url} stands in the table of operations`)
  })
}

/**
 * Who may not call is told so before the body is read, and what is read is read by the gate, with
 * its bounds. The content type is not looked at: a body that parses is taken, one that does not is
 * told what is wrong with it.
 */
function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onRequest', (request, _reply, done) => {
    // The framework answers a malformed type with a 415 of its own before any handler is asked.
    delete request.raw.headers['content-type']
    done()
  })
}

/** Node's own refusals have neither body nor code. */
function answerUnmetExpectations(server: Server): void {
  const {
    status,
    code = '',
    body,
  } = refuse('EXPECTATION_UNMET', ['Only 100-continue may be expected.'])
  const headers = { ...commonHeaders, ...jsonType, [errorCodeHeader]: code }
  const text = JSON.stringify(body !== null && 'json' in body ? body.json : {})
  server.on('checkExpectation', (_request, response) => {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text)
  })
}

function refuseAmbiguousHeads(app: FastifyInstance, gate: Gate): void {
  app.addHook('onRequest', (request, reply, done) => {
    const fault = headFaultOf(request.raw)
    if (fault === null) done()
    else gate.refuseHead(fault, reply)
  })
}

function createListener({ tls }: CampaignDeps, listener: RequestListener): Server {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    keepAliveTimeout: limits.keepAliveMs,
    headersTimeout: limits.headersMs,
    // Node's bound is on the whole request and would cut a backfill of an hour: the gate bounds each
    // body by its kind instead.
    requestTimeout: 0,
    requireHostHeader: false,
    connectionsCheckingInterval: limits.timeoutCheckMs,
  }
  if (tls === undefined) return createHttpServer(options, listener)
  return createHttpsServer({ ...options, ...tls, minVersion: 'TLSv1.2' }, (request, response) => {
    for (const [name, value] of Object.entries(tlsOnly)) response.setHeader(name, value)
    listener(request, response)
  })
}

interface Drained extends Pick<CampaignDeps, 'drainMsMax'> {
  readonly connections: Connections
}

/** The framework closes idle connections once; those that fall idle later are closed as they do. */
function drainOnClose(
  app: FastifyInstance,
  startClosing: () => void,
  { connections, drainMsMax = limits.drainMsMax }: Drained
): void {
  const timers: NodeJS.Timeout[] = []
  app.addHook('preClose', (done) => {
    startClosing()
    const { server } = app
    timers.push(
      setInterval(() => server.closeIdleConnections(), limits.idleCloseMs),
      setTimeout(() => connections.closeAll(), drainMsMax)
    )
    server.once('close', () => timers.forEach((timer) => clearTimeout(timer)))
    if (!server.listening) timers.forEach((timer) => clearTimeout(timer))
    done()
  })
}
