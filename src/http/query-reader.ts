import { pageLimits } from '../contract/catalog-pages.ts'
import { parseInstant } from '../domain/instant.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { countCodePoints, isText } from '../domain/text.ts'
import { queryText } from './query-text.ts'

/** Says what a parameter must be, and reads it: null for what is something else. */
export interface QueryRule<Value> {
  /** What follows `must be`. */
  readonly rule: string
  readonly parse: (text: string) => Value | null
}

/** Reads the parameters of a query and collects what is wrong with them. */
export class QueryReader {
  readonly #query: URLSearchParams
  readonly #messages: string[] = []

  constructor(query: URLSearchParams) {
    this.#query = query
  }

  /** Empty when nothing is wrong. */
  get messages(): readonly string[] {
    return this.#messages
  }

  /** Null when absent, and null beside a message. */
  optional<Value>(name: string, { rule, parse }: QueryRule<Value>): Value | null {
    const value = queryText(this.#query, name)
    if (value.kind === 'repeated') this.#messages.push(`${name} must be given once`)
    if (value.kind !== 'given') return null
    const parsed = parse(value.text)
    if (parsed === null) this.#messages.push(`${name} must be ${rule}`)
    return parsed
  }

  /** Null beside a message, also when it is absent. */
  required<Value>(name: string, rule: QueryRule<Value>): Value | null {
    if (!this.#query.has(name)) this.#messages.push(`${name} is required`)
    return this.optional(name, rule)
  }

  /** False when absent, and false beside a message. */
  flag(name: string): boolean {
    return this.optional(name, flagRule) ?? false
  }

  /** Null when absent, and null beside a message. */
  text(name: string, lengthMax: number): string | null {
    const rule = `text of 1 to ${lengthMax} characters`
    return this.optional(name, {
      rule,
      parse: (text) => {
        const length = countCodePoints(text)
        return length >= 1 && length <= lengthMax && isText(text) ? text : null
      },
    })
  }

  /** Milliseconds since 1970. Null when absent, and null beside a message. */
  instant(name: string): number | null {
    return this.optional(name, instantRule)
  }

  limit(): number {
    return this.optional('limit', limitRule) ?? pageLimits.default
  }
}

const flagRule: QueryRule<boolean> = {
  rule: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : null),
}

const instantRule: QueryRule<number> = {
  rule: 'an instant such as 2026-03-01T00:00:00Z',
  parse: parseInstant,
}

const limitRule: QueryRule<number> = {
  rule: `an integer from 1 to ${pageLimits.max}`,
  parse: (text) => {
    const limit = parsePositiveInt32(text)
    return limit !== null && limit <= pageLimits.max ? limit : null
  },
}
