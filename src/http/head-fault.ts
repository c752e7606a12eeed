// Heads that Node lets pass and that a proxy in front could read in another way (RFC 9112, 3.2 and 6.1).
import type { IncomingMessage } from 'node:http'

export const headFaults = {
  'missing-host': 'The Host header is missing.',
  'several-hosts': 'The Host header must be given once.',
  'transfer-coding': 'The only Transfer-Encoding is chunked.',
} as const

export type HeadFault = keyof typeof headFaults

export function headFaultOf(
  request: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'httpVersion'>
): HeadFault | null {
  const { headers, rawHeaders, httpVersion } = request
  if (headers.host === undefined) return httpVersion === '1.1' ? 'missing-host' : null
  if (isSaidTwice(rawHeaders, 'host')) return 'several-hosts'
  const coding = headers['transfer-encoding']
  return coding === undefined || coding.toLowerCase() === 'chunked' ? null : 'transfer-coding'
}

/**
 * Whether a header stands in two lines, of which Node keeps the first alone. `name` is in lower case. Every request
 * passes here, so names of another length are not looked at.
 */
export function isSaidTwice(rawHeaders: readonly string[], name: string): boolean {
  let lines = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const other = rawHeaders[index]
    if (other?.length === name.length && other.toLowerCase() === name) lines += 1
  }
  return lines > 1
}
