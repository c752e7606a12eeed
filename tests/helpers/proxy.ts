// What the proxies of tests have in common: a port of this machine, and requests that go on to the service.
import { once } from 'node:events'
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

export async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Passing {
  readonly upstream: string
  readonly headers: IncomingHttpHeaders
  readonly onAnswer: (answer: IncomingMessage) => void
}

export function passOn(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { upstream, headers, onAnswer }: Passing
): void {
  const { method = 'GET', url = '/' } = incoming
  const forwarded = request(new URL(url, upstream), { method, headers }, onAnswer)
  forwarded.once('error', () => outgoing.destroy())
  incoming.pipe(forwarded)
}

export function passBack(answer: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
  answer.pipe(outgoing)
}
