import { Type } from 'typebox'
import { campaignOperations } from '../contract/campaign-operations.ts'
import { closed } from '../contract/closed.ts'
import type { Operation } from '../contract/operation.ts'
import { trackingOperations } from '../contract/tracking-operations.ts'
import { compile } from '../contract/validate.ts'
import { invalid } from './client-error.ts'

type Values = Readonly<Record<string, string | number | undefined>>

/** Values by name; one that is not in the contract is refused, since it may be misspelt. */
export interface Parameters {
  readonly path?: Values
  readonly query?: Values
}

export interface Route {
  readonly method: string
  /** Media types of its answers. */
  readonly accept: string
  /** The one status that is a success. */
  readonly successStatus: number
  /** The address of a call; throws when a parameter breaks its rule. */
  resolve(address: URL, parameters: Parameters): URL
}

const operations = { ...trackingOperations, ...campaignOperations }

/** Where an operation of the contract is, with the checks of its parameters. */
export function createRoute(operationId: keyof typeof operations): Route {
  const operation: Operation = operations[operationId]
  const { method, path: pattern, pathParameters, queryParameters, responses } = operation
  const checkPath = compile(closed(pathParameters ?? Type.Object({})))
  const checkQuery = compile(closed(queryParameters ?? Type.Object({})))
  const mediaTypes = new Set([responses[0]?.content?.mediaType, 'application/json'])

  return {
    method: method.toUpperCase(),
    accept: [...mediaTypes].join(', '),
    successStatus: Number(responses[0]?.status),
    resolve(address, { path = {}, query = {} }) {
      const messages = [...checkPath(path), ...checkQuery(query)]
      if (messages.length > 0) throw invalid('REQUEST_INVALID', messages)

      const url = new URL(address)
      url.pathname = url.pathname.replace(/\/+$/, '') + expand(pattern, path)
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) url.searchParams.set(name, String(value))
      }
      return url
    },
  }
}

function expand(pattern: string, values: Values): string {
  return pattern.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(values[name]))
  )
}
