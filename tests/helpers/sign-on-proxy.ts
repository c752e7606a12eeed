// A proxy as oauth2-proxy and its like are: whoever has its cookie is signed in, and it names that person to the service.
import { once } from 'node:events'
import { createServer, request } from 'node:http'

export interface SignOnProxy {
  readonly url: string
  /** Whom it takes the holder of the cookie for. Null: its session has ended. */
  person: string | null
  close(): Promise<void>
}

export const personHeader = 'x-forwarded-email'
export const sessionCookie = 'session=open'
export const signOutPath = '/signed-out'

/** Removes the header that a caller sends, as every such proxy must. */
export async function startSignOnProxy(upstream: string): Promise<SignOnProxy> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === signOutPath) {
      outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Signed out</h1>')
      return
    }
    const { [personHeader]: _forged, ...headers } = incoming.headers
    const isSignedIn = proxy.person !== null && (headers.cookie ?? '').includes(sessionCookie)
    if (!isSignedIn) {
      outgoing.writeHead(302, { location: 'https://sso.example/' }).end()
      return
    }
    const named = { ...headers, [personHeader]: proxy.person ?? '' }
    const { method = 'GET', url = '/' } = incoming
    const forwarded = request(new URL(url, upstream), { method, headers: named }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    forwarded.once('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const proxy: SignOnProxy = {
    url: `http://127.0.0.1:${address.port}`,
    person: 'anna@example.com',
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
