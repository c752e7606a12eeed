// What is not even a request: answered like every other refusal, and the connection ends.
import { STATUS_CODES } from 'node:http'
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { owedAnswer } from '../http/connections.ts'
import { refusal, send } from './answers.ts'
import type { Answer } from './answers.ts'

/** Time for the answer to leave before what is still coming in resets the connection. */
const lingerMs = 500

const malformed = refusal(400, ['The request is not valid HTTP.'], 'malformed')
const tooManyHeaders = refusal(
  431,
  ['The request line and headers must be at most 32 KiB.'],
  'headers-too-large'
)
const tooSlow = refusal(408, ['The request did not arrive in time.'], 'too-slow')
const noTunnels = refusal(405, ['CONNECT is not supported.'], 'tunnel')
const unmetExpectation = refusal(417, ['Only 100-continue may be expected.'], 'expectation')

const answers: ReadonlyMap<unknown, Answer> = new Map([
  ['HPE_HEADER_OVERFLOW', tooManyHeaders],
  ['ERR_HTTP_REQUEST_TIMEOUT', tooSlow],
])

export function answerProtocolErrors(server: Server, onAnswer: (answer: Answer) => void): void {
  const end = (socket: Duplex, answer: Answer): void => {
    onAnswer(answer)
    endWith(socket, answer)
  }
  server.on('clientError', (error: Error, socket: Duplex) => {
    const code = 'code' in error ? error.code : undefined
    // Whoever hung up is not answered.
    if (code === 'ECONNRESET') endWith(socket, malformed)
    else end(socket, answers.get(code) ?? malformed)
  })
  server.on('connect', (_request: unknown, socket: Duplex) => end(socket, noTunnels))
  server.on('checkExpectation', (_request, response) => {
    onAnswer(unmetExpectation)
    send(response, unmetExpectation)
  })
}

/**
 * An earlier request of the connection may still wait for its answer, which another one would be
 * taken for. Then that one is answered as it should be, and the connection ends with it.
 */
function endWith(socket: Duplex, answer: Answer): void {
  // What comes behind a broken head breaks it again: closing now would reset the answer on its way.
  if (socket.writableEnded) return
  socket.on('error', ignoreReset)
  const owed = owedAnswer(socket)
  if (owed !== null && owed.req.complete) {
    owed.shouldKeepAlive = false
    return
  }
  if (!socket.writable || owed?.headersSent === true) {
    socket.destroy()
    return
  }
  socket.end(encode(answer))
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

function encode({ status, headers, body }: Answer): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, 'connection: close']
  for (let index = 0; index < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n${String(body)}`
}

function ignoreReset(): void {}
