// A proxy as oauth2-proxy and its like are: whoever has its cookie is signed in, and it names that person to the service.
import { listen, passBack, passOn, type Listening } from './proxy.ts'

export interface SignOnProxy extends Listening {
  /** Whom it takes the holder of the cookie for. Null: its session has ended. */
  person: string | null
}

export const personHeader = 'x-forwarded-email'
export const sessionCookie = 'session=open'
export const signOutPath = '/signed-out'

/** Removes the header that a caller sends, as every such proxy must. */
export async function startSignOnProxy(upstream: string): Promise<SignOnProxy> {
  const listening = await listen((incoming, outgoing) => {
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
    passOn(incoming, outgoing, {
      upstream,
      headers: named,
      onAnswer: (answer) => passBack(answer, outgoing),
    })
  })
  const proxy: SignOnProxy = { ...listening, person: 'anna@example.com' }
  return proxy
}
