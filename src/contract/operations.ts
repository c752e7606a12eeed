// Every HTTP operation of both ports, as data: the OpenAPI document is made from this table, and the
// tests compare it with the interface and with the routes.
import { adminOperations } from './admin-operations.ts'
import { campaignOperations } from './campaign-operations.ts'
import type { Operation } from './operation.ts'
import { operatorOperations } from './operator-operations.ts'
import { trackingOperations } from './tracking-operations.ts'

export const operations: readonly Operation[] = [
  ...trackingOperations,
  ...campaignOperations,
  ...adminOperations,
  ...operatorOperations,
]
