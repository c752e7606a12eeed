import type { HttpAnswer } from './http.ts'

const limits = { examplesMax: 3, excerptMax: 300 } as const

/** Ends the demo with its message alone, without a stack. */
export class DemoError extends Error {
  override readonly name = 'DemoError'
}

interface Failure {
  count: number
  readonly examples: string[]
}

/** Answers nobody expected, by the kind of the request; a run that has any has failed. */
export class Failures {
  readonly #kinds = new Map<string, Failure>()

  get count(): number {
    return [...this.#kinds.values()].reduce((sum, { count }) => sum + count, 0)
  }

  add(kind: string, example: string): void {
    const failure = this.#kinds.get(kind) ?? { count: 0, examples: [] }
    failure.count += 1
    if (failure.examples.length < limits.examplesMax) failure.examples.push(example)
    this.#kinds.set(kind, failure)
  }

  lines(): readonly string[] {
    return [...this.#kinds].flatMap(([kind, { count, examples }]) =>
      [`  ${count} × ${kind}`].concat(examples.map((example) => `      ${example}`))
    )
  }
}

export function describeAnswer({ status, body }: HttpAnswer): string {
  return `${status} ${body.slice(0, limits.excerptMax)}`.trimEnd()
}

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? ` (${String(error.code)})` : ''
  return `${error.name}: ${error.message}${code}`
}
