// A proxy in front of the campaign port that does to the answers of the API what poor ones do.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen, passBack, passOn, type Listening } from './proxy.ts'

export interface PoorProxy extends Listening {
  /** It sends a page of its own in place of an answer, or half of the answer and then nothing, with an end or without. */
  fault: 'none' | 'page' | 'half' | 'hanging'
}

export async function startPoorProxy(upstream: string): Promise<PoorProxy> {
  const listening = await listen((incoming, outgoing) => {
    const isApi = /^\/(?:v2|admin|metrics)\b/u.test(incoming.url ?? '/')
    if (isApi && proxy.fault === 'page') {
      outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to the proxy</h1>')
      return
    }
    const onAnswer = (answer: IncomingMessage) => {
      const { fault } = proxy
      if (isApi && (fault === 'half' || fault === 'hanging')) {
        void sendHalf(answer, outgoing, fault === 'half')
      } else passBack(answer, outgoing)
    }
    passOn(incoming, outgoing, { upstream, headers: incoming.headers, onAnswer })
  })
  const proxy: PoorProxy = { ...listening, fault: 'none' }
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
