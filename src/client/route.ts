import { Type } from 'typebox'
import { campaignOperations } from '../contract/campaign-operations.ts'
import { trackingOperations } from '../contract/tracking-operations.ts'
import { compile } from '../contract/validate.ts'
import { assert } from '../lib/assert.ts'
import { invalid } from './client-error.ts'

type Values = Readonly<Record<string, string | number | undefined>>

export interface Route {
  readonly method: string
  /** The address of a call; throws when a parameter breaks its rule. */
  resolve(address: URL, parameters: { readonly path?: Values; readonly query?: Values }): URL
}

const operations = new Map(
  [...trackingOperations, ...campaignOperations].map((operation) => [
    operation.operationId,
    operation,
  ])
)

/** Where an operation of the contract is, with the checks of its parameters. */
export function createRoute(operationId: string): Route {
  const operation = operations.get(operationId)
  assert(operation !== undefined, `the contract has the operation ${operationId}`)
  const { method, path: pattern, pathParameters, queryParameters } = operation
  const checkPath = compile(pathParameters ?? Type.Object({}))
  const checkQuery = compile(queryParameters ?? Type.Object({}))

  return {
    method: method.toUpperCase(),
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
