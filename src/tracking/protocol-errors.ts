// Answers to bytes that are no request, and to requests for what this port never does.
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { endWith, noTunnels, protocolErrorOf, type ProtocolError } from '../http/protocol-errors.ts'
import { refusal, send } from './answers.ts'
import type { Answer } from './answers.ts'

const unmetExpectation = refusal('expectation', ['Only 100-continue may be expected.'])
const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

export function answerProtocolErrors(server: Server, onAnswer: (answer: Answer) => void): void {
  const end = (socket: Duplex, error: ProtocolError | null): void => {
    if (error !== null) onAnswer(refusal(error.reason, [error.message]))
    endWith(socket, error, headers)
  }
  server.on('clientError', (error: Error, socket: Duplex) => end(socket, protocolErrorOf(error)))
  server.on('connect', (_request: unknown, socket: Duplex) => end(socket, noTunnels))
  server.on('checkExpectation', (_request, response) => {
    onAnswer(unmetExpectation)
    send(response, unmetExpectation)
  })
}
