import type { FastifyRequest } from 'fastify'

export function pathParametersOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(params ?? {})) parameters[name] = String(value)
  return parameters
}

export function queryOf(request: FastifyRequest): URLSearchParams {
  const url = request.raw.url ?? ''
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
}
