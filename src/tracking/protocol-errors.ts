// What is not even a request: answered like every other refusal, and the connection ends.
import { STATUS_CODES } from 'node:http'
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { refusal, send } from './answers.ts'
import type { Answer } from './answers.ts'

/** Time for the answer to leave before what is still coming in resets the connection. */
const lingerMs = 500

const malformed = refusal(400, ['The request is not valid HTTP.'])
const tooManyHeaders = refusal(431, ['The request line and headers must be at most 32 KiB.'])
const tooSlow = refusal(408, ['The request did not arrive in time.'])
const noTunnels = refusal(405, ['CONNECT is not supported.'])
const unmetExpectation = refusal(417, ['Only 100-continue may be expected.'])

const answers: ReadonlyMap<unknown, Answer> = new Map([
  ['HPE_HEADER_OVERFLOW', tooManyHeaders],
  ['ERR_HTTP_REQUEST_TIMEOUT', tooSlow],
])

export function answerProtocolErrors(server: Server): void {
  server.on('clientError', (error: Error, socket: Duplex) => {
    const code = 'code' in error ? error.code : undefined
    endWith(socket, answers.get(code) ?? malformed)
  })
  server.on('connect', (_request: unknown, socket: Duplex) => endWith(socket, noTunnels))
  server.on('checkExpectation', (_request, response) => send(response, unmetExpectation))
}

function endWith(socket: Duplex, answer: Answer): void {
  socket.on('error', ignoreReset)
  if (!socket.writable || owesAnswer(socket)) {
    socket.destroy()
    return
  }
  socket.end(encode(answer))
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/**
 * Whether an earlier request of the connection still waits for its answer: another one now would be
 * taken for it. Node's own handler of these errors asks the same undocumented field.
 */
function owesAnswer(socket: Duplex): boolean {
  return Boolean(Reflect.get(socket, '_httpMessage'))
}

function encode({ status, headers, body }: Answer): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, 'connection: close']
  for (let index = 0; index < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n${String(body)}`
}

function ignoreReset(): void {}
