import type { Readable, Writable } from 'node:stream'
import type { Type, TSchema } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import type { AdminCall, RawAnswer } from './client.ts'

export type Environment = Readonly<Record<string, string | undefined>>

type OptionValue = string | boolean

/** The world as a command sees it. */
export interface Terminal {
  readonly argv: readonly string[]
  readonly environment: Environment
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable & { readonly isTTY?: boolean }
}

export interface CommandContext {
  readonly terminal: Terminal
  /** The arguments that are not options. */
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, OptionValue | readonly OptionValue[] | undefined>>
  /**
   * Calls the admin API; the answer is as the schema says. Looks for the address and the key at the first
   * call, since `help` needs neither. Throws a CliError if the call fails or is refused.
   */
  readonly call: <Schema extends TSchema>(
    schema: Schema,
    call: AdminCall
  ) => Promise<Immutable<Type.Static<Schema>>>
  /** The same for an answer that is not JSON. */
  readonly callForText: (call: AdminCall) => Promise<Pick<RawAnswer, 'text' | 'headers'>>
  /** Prints the value with `--json`, else the text. */
  readonly print: (value: unknown, text: string) => void
}

export interface Command {
  /** The words as they are typed: `keys create`. */
  readonly name: string
  /** The arguments that follow the name. */
  readonly usage: string
  readonly summary: string
  /** Options beyond those that every command has. */
  readonly options?: Readonly<
    Record<string, { readonly type: 'string' | 'boolean'; readonly multiple?: boolean }>
  >
  /** How many arguments must be given. Default 0. */
  readonly positionalCount?: number
  /** How many more may follow. Default 0. */
  readonly optionalCount?: number
  run(context: CommandContext): Promise<number>
}

/** A failure in the words of the person at the terminal: no stack, and what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError'
  /** 1: the command failed. 2: it was not understood. */
  readonly exitCode: 1 | 2

  constructor(
    message: string,
    options: { readonly exitCode?: 1 | 2; readonly cause?: unknown } = {}
  ) {
    super(message, { cause: options.cause })
    this.exitCode = options.exitCode ?? 1
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, { exitCode: 2 })
}
