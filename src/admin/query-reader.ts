import { queryText } from '../access/query-text.ts'
import { pageLimits } from '../contract/catalog-pages.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { countCodePoints, isText } from '../domain/text.ts'

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

  fault(name: string, rule: string): void {
    this.#messages.push(`${name} ${rule}`)
  }

  /** False when absent, and false beside a message. */
  flag(name: string): boolean {
    const text = this.#read(name)
    if (text !== null && text !== 'true' && text !== 'false') {
      this.fault(name, 'must be true or false')
    }
    return text === 'true'
  }

  /** Null when absent, and null beside a message. */
  text(name: string, lengthMax: number): string | null {
    const text = this.#read(name)
    if (text === null) return null
    const length = countCodePoints(text)
    if (length >= 1 && length <= lengthMax && isText(text)) return text
    this.fault(name, `must be text of 1 to ${lengthMax} characters`)
    return null
  }

  limit(): number {
    const text = this.#read('limit')
    if (text === null) return pageLimits.default
    const limit = parsePositiveInt32(text)
    if (limit !== null && limit <= pageLimits.max) return limit
    this.fault('limit', `must be an integer from 1 to ${pageLimits.max}`)
    return pageLimits.default
  }

  #read(name: string): string | null {
    const value = queryText(this.#query, name)
    if (value.kind === 'repeated') this.fault(name, 'must be given once')
    return value.kind === 'given' ? value.text : null
  }
}
