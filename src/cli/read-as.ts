import type { Type, TSchema } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import { compileParser } from '../contract/validate.ts'
import { CliError } from './cli-error.ts'

/** Reads an answer as what the contract promises; another server, or another version, may differ. */
export function readAs<T extends TSchema>(
  schema: T
): (answer: unknown) => Immutable<Type.Static<T>> {
  const parse = compileParser(schema)
  return (answer) => {
    const parsed = parse(answer)
    if (parsed.ok) return parsed.value
    throw new CliError(
      `The answer of the server is not understood: is its version another one? (${parsed.messages.join('; ')})`
    )
  }
}
