import type { FastifyReply } from 'fastify'
import { errorCodeHeader } from '../contract/refusal-codes.ts'
import type { Answer } from '../http/handler.ts'
import { chooseEncoding, type StaticFile } from '../http/static-file.ts'

/**
 * On every answer. Nothing of this port may be kept by a cache, guessed to be another type, framed,
 * or load anything; pages bring a policy of their own.
 */
export const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

export const jsonType = { 'content-type': 'application/json; charset=utf-8' } as const

export function sendAnswer(reply: FastifyReply, { status, headers, code, body }: Answer): void {
  if (body !== null && 'file' in body) {
    sendFile(reply, { status, headers: { ...commonHeaders, ...headers } }, body.file)
    return
  }
  const isJson = body !== null && 'json' in body
  void reply.code(status).headers({
    ...commonHeaders,
    ...(isJson && jsonType),
    ...(code !== undefined && { [errorCodeHeader]: code }),
    ...headers,
  })
  if (body === null) void reply.send()
  else void reply.send('json' in body ? JSON.stringify(body.json) : body.text)
}

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

function sendFile(reply: FastifyReply, head: Head, file: StaticFile): void {
  const { isKnown, bytes, headers } = chooseEncoding(file, reply.request.headers)
  const all = { ...head.headers, ...headers }
  if (!isKnown) {
    void reply.code(head.status).headers(all).send(bytes)
    return
  }
  // The framework would give the 304 of a HEAD a length of 0, which a cache would take over.
  reply.hijack()
  reply.raw.writeHead(304, all).end()
}
