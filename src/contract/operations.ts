// Every HTTP operation of both ports. The OpenAPI document, the routes of the campaign port and the checks
// of its requests are made from this table.
import { Type } from 'typebox'
import { adminOperations } from './admin-operations.ts'
import { campaignOperations } from './campaign-operations.ts'
import { withIds, withKey, type Operation } from './operation.ts'
import { answer, otherwise, publicRefusals } from './responses.ts'
import { trackingOperations } from './tracking-operations.ts'
import { upkeepOperations } from './upkeep-operations.ts'

const operator = {
  method: 'get',
  ports: ['campaign'],
  tag: 'Operator',
  access: null,
  body: null,
  addition: true,
} as const

const closing = publicRefusals(['HTTP_MALFORMED', 'SERVICE_STOPPING'])
const healthSchema = Type.Object({ status: Type.String() })

const nodeTable = withIds({
  getHealth: {
    ...operator,
    path: '/healthz',
    ports: ['tracking', 'campaign'],
    summary: 'Ask whether the process is alive',
    description: 'Says nothing about its dependencies.',
    responses: [answer('200', 'Alive.', healthSchema), ...closing, otherwise],
  },
  getReadiness: {
    ...operator,
    path: '/readyz',
    ports: ['tracking', 'campaign'],
    summary: 'Ask whether the port takes traffic',
    description: 'For load balancers. The status of the node says what is wrong with it.',
    responses: [
      answer('200', 'Takes traffic.', healthSchema),
      ...publicRefusals(['HTTP_MALFORMED', 'SERVICE_NOT_READY', 'SERVICE_STOPPING'], {
        503: 'Service Unavailable: the port does not take traffic.',
      }),
      otherwise,
    ],
  },
  getMetrics: withKey({
    path: '/metrics',
    tag: 'Operator',
    summary: 'Read the metrics',
    description: 'Prometheus text over all processes of the node.',
    access: { scope: 'metrics:read', isAdvertiserBound: false },
    success: {
      status: '200',
      description: 'The metrics.',
      content: { mediaType: 'text/plain', schema: Type.String() },
    },
  }),
})

const documentSchema = Type.Object(
  {
    openapi: Type.String(),
    info: Type.Object({}, { additionalProperties: true }),
    paths: Type.Object({}, { additionalProperties: true }),
    components: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: true }
)

const documentTable = withIds({
  getOpenApi: {
    ...operator,
    path: '/openapi.json',
    summary: 'Read this document',
    description: 'The OpenAPI 3.1 document of both ports.',
    responses: [answer('200', 'The document.', documentSchema), ...closing, otherwise],
  },
})

/** The operations of every node, whatever its roles. */
export const nodeOperations: readonly Operation[] = Object.values(nodeTable)

export const operations: readonly Operation[] = [
  trackingOperations,
  campaignOperations,
  adminOperations,
  upkeepOperations,
  documentTable,
  nodeTable,
].flatMap((table): readonly Operation[] => Object.values(table))
