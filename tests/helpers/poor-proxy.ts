// A proxy in front of the campaign port that does to the answers of the API what poor ones do.
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface PoorProxy {
  readonly url: string
  /** It sends a page of its own in place of an answer, or half of the answer and then nothing, with an end or without. */
  fault: 'none' | 'page' | 'half' | 'hanging'
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
      const { fault } = proxy
      if (isApi && (fault === 'half' || fault === 'hanging')) {
        void sendHalf(answer, outgoing, fault === 'half')
      } else answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders))
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

async function sendHalf(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  ends: boolean
): Promise<void> {
  const body = await buffer(answer)
  outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
  outgoing.write(body.subarray(0, body.length / 2), () => {
    if (ends) outgoing.destroy()
  })
}
