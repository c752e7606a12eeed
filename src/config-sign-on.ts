// The settings of the sign-on by a proxy: all of them, or none.
import type { ConfigReader } from './config-reader.ts'
import { createSearch, notARange, readRange, widthFault } from './lib/address-ranges.ts'

export interface SignOnConfig {
  /** The header in which the proxy names the person, in small letters. */
  readonly header: string
  readonly isProxy: (address: string) => boolean
  /** Where "Sign out" of the dashboard leads. Null: nowhere. */
  readonly signOutUrl: string | null
}

const headerVariable = 'SHELFTRACE_TRUSTED_USER_HEADER'
const proxyVariable = 'SHELFTRACE_TRUSTED_USER_PROXIES'
const signOutVariable = 'SHELFTRACE_SIGN_OUT_URL'

const rangesMax = 100

/** What any sender or any proxy sets by itself says nothing about a person. */
const senderHeader =
  /^(?:accept|access-control|content|if|keep|proxy|sec|shelftrace|transfer)-|^(?:cache-control|last-event-id|max-forwards|user-agent|x-forwarded-(?:for|host|port|proto|server)|x-real-ip|x-request-id|x-requested-with)$/u

export function readSignOn(reader: ConfigReader): SignOnConfig | null {
  const name = reader.optional(headerVariable)
  const proxies = reader.optional(proxyVariable)
  const signOutUrl = readSignOutUrl(reader)
  if (name === null) {
    const given = [
      proxies === null ? [] : [proxyVariable],
      signOutUrl === null ? [] : [signOutVariable],
    ]
    for (const other of given.flat()) {
      reader.faults.push(`${headerVariable} must be set where ${other} is`)
    }
    return null
  }
  const header = name.toLowerCase()
  const isName = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/u.test(header) && header.length <= 64
  if (!isName || senderHeader.test(header)) {
    const rule = 'must be the name of a header that only the proxy sets, such as X-Forwarded-Email'
    reader.fault(headerVariable, rule, name)
  }
  if (proxies === null) {
    reader.faults.push(
      `${proxyVariable} must be set too, to the addresses of the proxy: from anywhere else ` +
        `the header ${name} is the word of whoever sends it`
    )
  }
  return { header, isProxy: readProxies(reader, proxies ?? ''), signOutUrl }
}

function readProxies(reader: ConfigReader, text: string): (address: string) => boolean {
  const words = text.split(',').map((word) => word.trim())
  const ranges = words.map(readRange).filter((range) => range !== null)
  if (text !== '') {
    const fault = ranges.length < words.length ? notARange : ranges.map(widthFault).find(isText)
    if (isText(fault)) reader.fault(proxyVariable, `${fault}, or several with commas between`, text)
    if (words.length > rangesMax)
      reader.faults.push(`${proxyVariable} must have at most ${rangesMax} ranges`)
  }
  return createSearch(ranges)
}

function isText(fault: string | null | undefined): fault is string {
  return typeof fault === 'string'
}

/** An address, or a path of the host that the dashboard is on. */
function readSignOutUrl(reader: ConfigReader): string | null {
  const text = reader.optional(signOutVariable)
  if (text === null) return null
  const isPath = /^\/(?![/\\])[\x21-\x7e]*$/u.test(text)
  const isUrl = /^https?:\/\/[\x21-\x7e]+$/u.test(text) && URL.canParse(text)
  if (isPath || isUrl) return text
  reader.fault(
    signOutVariable,
    'must be a path such as /oauth2/sign_out, or an http or https address',
    text
  )
  return null
}
