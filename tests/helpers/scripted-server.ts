// An HTTP server that plays a script, one step per request: for what a service only does on a bad day.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Requests that came over the same connection have the same. */
  readonly connection: number
}

type Step = (response: ServerResponse, received: Received) => void | Promise<void>

export interface ScriptedServer {
  readonly url: string
  /** In the order in which they came. */
  readonly received: readonly Received[]
}

interface Lifetime {
  after(fn: () => Promise<void>): void
}

/** Plays the steps in order, and the last one again for whatever comes after. */
export async function playScript(t: Lifetime, ...steps: readonly Step[]): Promise<ScriptedServer> {
  const received: Received[] = []
  const connections = new Map<unknown, number>()
  const play = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const { method = '', url = '', headers, socket } = request
    const connection = connections.get(socket) ?? connections.size
    connections.set(socket, connection)
    const step = steps[Math.min(received.length, steps.length - 1)]
    const one = { method, url, headers, body, connection }
    received.push(one)
    await step?.(response, one)
  }
  const server = createServer((request, response) => {
    // A client that goes away while it is being answered is part of the play.
    play(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, received }
}

export function answer(
  status: number,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {}
): Step {
  return (response) => {
    const type = { 'content-type': 'application/json; charset=utf-8' }
    response.writeHead(status, { ...type, ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** Takes the request and hangs up. */
export const hangUp: Step = (response) => {
  response.destroy()
}

/** Takes the request and says nothing. */
export const stayMute: Step = () => {}

/** Sends the beginning of an answer, then ends the connection as if nothing more were to come. */
export function breakOff(
  begun: string,
  headers: Readonly<Record<string, string>>,
  end: 'reset' | 'close'
): Step {
  return (response) => {
    // With `connection: close` the end of the connection is all that a client gets to see.
    response.writeHead(200, { ...headers, ...(end === 'close' && { connection: 'close' }) })
    response.write(begun, () => {
      if (end === 'close') response.socket?.end()
      else response.socket?.resetAndDestroy()
    })
  }
}
