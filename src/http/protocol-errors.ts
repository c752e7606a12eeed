// Answers to bytes that are not a request: they are written to the bare socket, in the shape of every other
// refusal, and the connection ends.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { errorCodeHeader, refusalKinds, type RefusalCode } from '../contract/refusal-codes.ts'
import { owedAnswer } from './connections.ts'

/** Time for the answer to leave before what is still coming in resets the connection. */
const lingerMs = 500

/** RFC 6797: a browser that came over TLS once uses nothing else for a year. */
export const tlsOnly = { 'strict-transport-security': 'max-age=31536000' } as const

export interface ProtocolError {
  readonly code: RefusalCode
  readonly message: string
  readonly reason: 'malformed' | 'headers-too-large' | 'too-slow' | 'tunnel'
}

const malformed: ProtocolError = {
  code: 'HTTP_MALFORMED',
  message: 'The request is not valid HTTP.',
  reason: 'malformed',
}

/** What a CONNECT is answered. */
export const noTunnels: ProtocolError = {
  code: 'METHOD_NOT_ALLOWED',
  message: 'CONNECT is not supported.',
  reason: 'tunnel',
}

const errors: ReadonlyMap<unknown, ProtocolError> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    {
      code: 'HEADERS_TOO_LARGE',
      message: 'The request line and headers must be at most 32 KiB.',
      reason: 'headers-too-large',
    },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      code: 'REQUEST_TOO_SLOW',
      message: 'The request did not arrive in time.',
      reason: 'too-slow',
    },
  ],
])

/** Classifies what Node reports as `clientError`; null: the sender has hung up and gets no answer. */
export function protocolErrorOf(error: Error): ProtocolError | null {
  const code = 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' ? null : (errors.get(code) ?? malformed)
}

/**
 * Ends the connection with the answer; without one, if null. An earlier request of the connection may
 * still wait for its own, which this one would be taken for: then that one is answered as it should be,
 * and nothing follows it.
 */
export function endWith(
  socket: Duplex,
  error: ProtocolError | null,
  headers: Readonly<Record<string, string>>
): void {
  // Bytes behind a broken head raise the error again: closing now would reset the answer on its way.
  if (socket.writableEnded && error !== null) return
  socket.on('error', ignoreReset)
  const owed = owedAnswer(socket)
  if (owed !== null && owed.req.complete) {
    owed.shouldKeepAlive = false
    return
  }
  if (error === null || !socket.writable || owed?.headersSent === true) {
    socket.destroy()
    return
  }
  const body = JSON.stringify({ messages: [error.message] })
  const lines = Object.entries({
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    [errorCodeHeader]: error.code,
    ...(socket instanceof TLSSocket && tlsOnly),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`)
  const { status } = refusalKinds[error.code]
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`
  socket.end([line, ...lines, '', body].join('\r\n'))
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/** The sender may hang up before the answer is written; there is nothing left to do. */
function ignoreReset(): void {}
