import { Type } from 'typebox'
import { answer, forbidden, otherwise, refusal, unauthorized, type Operation } from './operation.ts'

const publicOperation = {
  method: 'get',
  tag: 'Operator',
  access: null,
  body: null,
  addition: true,
} as const

const healthSchema = Type.Object({ status: Type.String() })

/** What every node answers, whatever its roles. */
export const nodeOperations: readonly Operation[] = [
  {
    ...publicOperation,
    operationId: 'getHealth',
    path: '/healthz',
    ports: ['tracking', 'campaign'],
    summary: 'Ask whether the process is alive',
    description: 'Says nothing about its dependencies.',
    responses: [answer('200', 'Alive.', healthSchema), otherwise],
  },
  {
    ...publicOperation,
    operationId: 'getReadiness',
    path: '/readyz',
    ports: ['tracking', 'campaign'],
    summary: 'Ask whether the port takes traffic',
    description: 'For load balancers. What is wrong with a node stands in its status.',
    responses: [
      answer('200', 'Takes traffic.', healthSchema),
      refusal('503', 'Does not take traffic.'),
      otherwise,
    ],
  },
  {
    ...publicOperation,
    operationId: 'getMetrics',
    path: '/metrics',
    ports: ['campaign'],
    summary: 'Read the metrics',
    description: 'Prometheus text over all processes of the node.',
    access: { scope: 'metrics:read', isAdvertiserBound: false },
    responses: [
      {
        status: '200',
        description: 'The metrics.',
        content: { mediaType: 'text/plain', schema: Type.String() },
      },
      unauthorized,
      forbidden,
      otherwise,
    ],
  },
]

export const operatorOperations: readonly Operation[] = [
  {
    ...publicOperation,
    operationId: 'getOpenApi',
    path: '/openapi.json',
    ports: ['campaign'],
    summary: 'Read this document',
    description: 'The OpenAPI 3.1 document of both ports.',
    responses: [answer('200', 'The document.', Type.Object({})), otherwise],
  },
  ...nodeOperations,
]
