// Reads single settings out of the variables of the environment, and gathers every fault.
import { resolve } from 'node:path'
import { ServiceError } from './errors.ts'
import { readSecretText } from './secrets.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const serviceLinkName =
  /^SHELFTRACE(?:_[A-Z0-9_]+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/u

/**
 * Kubernetes gives every container variables for each Service, named after it: those of Services called `shelftrace`
 * or `shelftrace-tracking` are no settings, and some have the names of settings. A port with a scheme is never one of
 * ours.
 */
function withoutServiceLinks(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) =>
        !serviceLinkName.test(name) &&
        !(
          /^SHELFTRACE(?:_[A-Z0-9_]+)?_PORT$/u.test(name) &&
          /^(?:tcp|udp|sctp):\/\//u.test(value ?? '')
        )
    )
  )
}

/** Of names and addresses: `*`, `,` and what was meant to be replaced (`${HOST}`) are in none. */
const hostName = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)$/u

function isEscapedRight(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Variables of the command line, which shares the environment. */
const commandLineVariables = ['SHELFTRACE_URL', 'SHELFTRACE_KEY', 'SHELFTRACE_KEY_FILE'] as const

export class ConfigReader {
  readonly faults: string[] = []
  readonly #environment: Environment
  readonly #known = new Set<string>(commandLineVariables)

  constructor(environment: Environment) {
    this.#environment = withoutServiceLinks(environment)
  }

  given(name: string): string | undefined {
    this.#known.add(name)
    return this.#environment[name]
  }

  /** The value, or the content of the file that the variable with `_FILE` at its end names. */
  secret(name: string): string | undefined {
    const path = this.optional(`${name}_FILE`)
    const value = this.given(name)
    if (path === null) return value
    if (value !== undefined && value !== '') {
      this.faults.push(`${name} and ${name}_FILE must not both be set`)
      return undefined
    }
    try {
      return readSecretText(resolve(path)).trim()
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.faults.push(`${name}_FILE: ${error.message}`)
      return undefined
    }
  }

  optional(name: string): string | null {
    const value = this.given(name)
    return value === undefined || value === '' ? null : value
  }

  pathOr(name: string, fallback: string): string {
    return this.path(name) ?? resolve(fallback)
  }

  /** Relative to the working folder. What surrounds a path by mistake would name another folder, a new one. */
  path(name: string): string | null {
    const value = this.optional(name)
    if (value === null) return null
    if (value !== value.trim() || /^~|\p{Cc}/u.test(value)) {
      const rule = 'must be a path without blanks around it, control characters or ~ in front'
      this.fault(name, rule, value)
    }
    return resolve(value)
  }

  text(name: string, fallback: string): string {
    return this.optional(name) ?? fallback
  }

  integer(name: string, fallback: number, rule: { min: number; max: number }): number {
    const value = this.optional(name)
    if (value === null) return fallback
    const number = /^\d{1,16}$/u.test(value) ? Number(value) : Number.NaN
    if (number >= rule.min && number <= rule.max) return number
    this.fault(name, `must be an integer from ${rule.min} to ${rule.max}`, value)
    return fallback
  }

  flag(name: string): boolean {
    const word = this.oneOf(name, ['true', 'false', '1', '0'] as const, 'false')
    return word === 'true' || word === '1'
  }

  oneOf<Word extends string>(name: string, words: readonly Word[], fallback: Word): Word {
    const value = this.optional(name)
    if (value === null) return fallback
    const word = words.find((candidate) => candidate === value)
    if (word !== undefined) return word
    this.fault(name, `must be one of ${words.join(', ')}`, value)
    return fallback
  }

  /** The address may hold a password: it may come from a file, and a fault never repeats it. */
  secretUrl(name: string): string | null {
    const value = this.secret(name) ?? ''
    if (value === '' || isHttpUrl(value)) return value === '' ? null : value
    this.faults.push(`${name} must be an absolute http or https address`)
    return null
  }

  /** Addresses may hold passwords: they may come from a file, and a fault never repeats them. */
  secretUrls(name: string, separator: RegExp): readonly string[] | null {
    const value = this.secret(name) ?? ''
    if (value === '') return null
    const urls = value.split(separator).map((part) => part.trim())
    if (urls.every(isHttpUrl)) return urls
    this.faults.push(
      `${name} must be an absolute http or https address, or several with commas in between`
    )
    return null
  }

  /** An address that paths are appended to, without a slash at its end; blanks around it are cut. */
  linkBase(name: string): string | null {
    const value = this.optional(name)?.trim() ?? ''
    if (value === '') return null
    const url = URL.canParse(value) ? new URL(value) : null
    const isPlain =
      url !== null &&
      /^https?:$/u.test(url.protocol) &&
      hostName.test(url.hostname) &&
      isEscapedRight(url.pathname) &&
      [url.username, url.password, url.search, url.hash].every((part) => part === '')
    if (isPlain) return `${url.origin}${url.pathname}`.replace(/\/+$/u, '')
    this.faults.push(
      `${name} must be an absolute http or https address of one host without user, password, query and fragment: ` +
        'the path of every link is appended to it'
    )
    return null
  }

  fault(name: string, rule: string, value: string): void {
    this.faults.push(`${name} ${rule}, got ${JSON.stringify(value)}`)
  }

  /** Lines of a file that a shell did not read arrive as they are written. The value may be a secret. */
  refuseLeftovers(): void {
    for (const [name, value = ''] of Object.entries(this.#environment)) {
      if (!name.startsWith('SHELFTRACE_')) continue
      if (value.endsWith('\r')) {
        this.faults.push(
          `${name} must not end with a carriage return: its file has Windows line ends`
        )
      } else if (/^(["']).*\1$/su.test(value)) {
        this.faults.push(`${name} must not have quotes around it: whatever set it has kept them`)
      }
    }
  }

  /**
   * A misspelt variable would otherwise be a setting that silently does nothing. Known are those that were
   * read, so this comes last.
   */
  refuseUnknown(): void {
    for (const name of Object.keys(this.#environment)) {
      if (name.startsWith('SHELFTRACE_') && !this.#known.has(name)) {
        this.faults.push(`${name} is not a variable of Shelftrace; see docs/configuration.md`)
      }
    }
  }
}

/** A comma in the path is one that was meant to end the address. */
function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  const isHttp = url !== null && /^https?:$/u.test(url.protocol)
  return isHttp && url.hostname !== '' && !url.pathname.includes(',')
}
