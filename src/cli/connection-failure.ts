// Why a server could not be spoken to, in words that say what to do.
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { CliError } from './command.ts'
import { printable } from './table.ts'

type Protocol = 'http:' | 'https:'

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH'])

/** OpenSSL's names for a certificate whose authority this program does not know. */
const untrusted = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

const probeMsMax = 2_000
const namesMax = 5

/** What to throw in place of a failure of the call; a CliError and what is no Error are kept. */
export async function explainConnection(error: unknown, url: URL): Promise<unknown> {
  if (error instanceof CliError || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const text =
    unreachableText(code, url) ??
    certificateText(error, { code, url }) ??
    (await otherProtocolText(url)) ??
    `The connection to ${url.origin} broke (${code === '' ? error.message : code}).`
  return new CliError(text, { cause: error })
}

function unreachableText(code: string, url: URL): string | null {
  if (!unreachable.has(code)) return null
  return (
    `Nothing answers at ${url.origin} (${code}). Start the service with "shelftrace serve", ` +
    'or name its campaign port with --url or SHELFTRACE_URL.'
  )
}

function certificateText(
  error: Error,
  { code, url }: { readonly code: string; readonly url: URL }
): string | null {
  const certificate = `The certificate of ${url.origin}`
  if (untrusted.has(code)) {
    return (
      `${certificate} is not trusted (${code}). If it comes from your own authority, name the PEM file of that ` +
      'in NODE_EXTRA_CA_CERTS.'
    )
  }
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return `${certificate} has expired.`
    case 'CERT_NOT_YET_VALID':
      return `${certificate} is not valid yet. Is the clock of this machine right?`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return (
        `${certificate} is for ${namesOf(error)}, not for ${url.hostname}. Name the server with --url or ` +
        'SHELFTRACE_URL as its certificate does.'
      )
    default:
      return null
  }
}

function namesOf(error: Error): string {
  const certificate: unknown = Reflect.get(error, 'cert')
  const isShown = typeof certificate === 'object' && certificate !== null
  const text: unknown = isShown ? Reflect.get(certificate, 'subjectaltname') : null
  const names = (typeof text === 'string' ? text : '')
    .split(', ')
    .map((name) => name.replace(/^(?:DNS|IP Address):/u, ''))
    .filter((name) => name !== '')
  if (names.length === 0) return 'another server'
  return printable(names.slice(0, namesMax).join(', '))
}

/** Null if the port does not speak the other protocol either. */
async function otherProtocolText(url: URL): Promise<string | null> {
  const other = url.protocol === 'https:' ? 'http:' : 'https:'
  if (!(await speaks(other, url))) return null
  const name = other === 'https:' ? 'HTTPS' : 'HTTP without TLS'
  return `${url.host} speaks ${name}: begin the address (--url or SHELFTRACE_URL) with ${other}//`
}

/** Whether the port gives any answer over the protocol. It gets no key, so its certificate does not matter. */
async function speaks(protocol: Protocol, url: URL): Promise<boolean> {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  const target = `${protocol}//${url.hostname}:${port}/`
  const options = { method: 'HEAD', agent: false, timeout: probeMsMax, rejectUnauthorized: false }
  const request = (protocol === 'https:' ? requestHttps : requestHttp)(target, options)
  try {
    return await new Promise<boolean>((resolve) => {
      request.once('response', () => resolve(true))
      request.once('timeout', () => resolve(false))
      request.on('error', () => resolve(false))
      request.end()
    })
  } finally {
    request.destroy()
  }
}
