// A proxy in front of the campaign port that does to the answers of the API what poor ones do.
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface PoorProxy {
  readonly url: string
  /** Whether it sends a page of its own in place of an answer, or no more than half of the answer. */
  fault: 'none' | 'page' | 'half'
  close(): Promise<void>
}

export async function startPoorProxy(upstream: string): Promise<PoorProxy> {
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const isApi = /^\/(?:v2|admin|metrics)\b/u.test(url)
    if (isApi && proxy.fault === 'page') {
      outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to the proxy</h1>')
      return
    }
    const forwarded = request(new URL(url, upstream), { method, headers }, (answer) => {
      if (isApi && proxy.fault === 'half') void sendHalf(answer, outgoing)
      else answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders))
    })
    forwarded.once('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const proxy: PoorProxy = {
    url: `http://127.0.0.1:${address.port}`,
    fault: 'none',
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

async function sendHalf(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await buffer(answer)
  outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
  outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy())
}
