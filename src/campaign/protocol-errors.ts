import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { commonHeaders } from './common-headers.ts'

/** Time for the answer to leave before what is still coming in resets the connection. */
const lingerMs = 500

/** What is no HTTP never becomes a request; it is answered on the bare socket, in our shape. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  // What comes behind a broken head breaks it again: closing now would reset the answer on its way.
  if (socket.writableEnded && error.code !== 'ECONNRESET') return
  // An answer that is owed to an earlier request of the connection would be taken for this one.
  if (
    error.code === 'ECONNRESET' ||
    !socket.writable ||
    Boolean(Reflect.get(socket, '_httpMessage'))
  ) {
    socket.destroy()
    return
  }
  socket.on('error', ignoreReset)
  const { status, message } = refusals.get(error.code) ?? malformed
  const body = JSON.stringify({ messages: [message] })
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      ...Object.entries(commonHeaders).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n')
  )
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const malformed = { status: 400, message: 'The request is not valid HTTP.' }

const refusals: ReadonlyMap<unknown, typeof malformed> = new Map([
  ['HPE_HEADER_OVERFLOW', { status: 431, message: 'The head of the request is too long.' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, message: 'The request took too long to come in.' }],
])

/** Whoever sends no HTTP may also hang up. */
function ignoreReset(): void {}
