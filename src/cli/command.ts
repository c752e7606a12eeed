// What a command is, and the world as it sees it. Descriptions load neither schemas nor the service, so that help,
// completion and faults of the command line are told at once; the program of a command is loaded when it runs.
import type { Readable, Writable } from 'node:stream'
import type { Type, TSchema } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import type { AdminCall, RawAnswer } from './client.ts'
import type { Layout } from './layout.ts'

export type Environment = Readonly<Record<string, string | undefined>>

type OptionValue = string | boolean

/** A terminal has a width, and shows colours. */
type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** The world as a command sees it. */
export interface Terminal {
  readonly argv: readonly string[]
  readonly environment: Environment
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
}

export interface CommandContext {
  readonly terminal: Terminal
  /** The arguments that are not options. */
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, OptionValue | readonly OptionValue[] | undefined>>
  /** How text is laid out for the reader of the output. */
  readonly layout: Layout
  /** The words of the command. */
  readonly command: string
  /** The address of the service; throws a CliError if it is not usable. */
  readonly serverUrl: () => URL
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
  /** Writes to the output and waits until it is taken. Resolves with false if it is not, as behind `head`. */
  readonly write: (text: string) => Promise<boolean>
  /** Prints the value with `--json`, else the text. */
  readonly print: (value: unknown, text: string) => void
  /** The same; resolves with false if nobody got it. */
  readonly tryPrint: (value: unknown, text: string) => Promise<boolean>
}

/** The program of a command; resolves with the exit code. */
export type Run = (context: CommandContext) => Promise<number>

export interface Option {
  /** What follows it, such as `DAY`; absent: nothing, it is a switch. */
  readonly value?: string
  readonly help: string
  readonly isRequired?: boolean
  /** May be given many times. */
  readonly isRepeatable?: boolean
  /** Every value that it takes. */
  readonly choices?: readonly string[]
  /** Several of the choices may be given, separated by commas. */
  readonly isList?: boolean
  /** The value is the path of a file. */
  readonly isFile?: boolean
  /** Its name in the API, where that is not the same in camel case. */
  readonly field?: string
}

export type Options = Readonly<Record<string, Option>>

/** An argument that is not an option. */
export interface Operand {
  /** As usage shows it: `FILE`. */
  readonly name: string
  readonly isOptional?: boolean
  readonly choices?: readonly string[]
  readonly isFile?: boolean
  /** Its name in the API. */
  readonly field?: string
}

export interface Section {
  readonly title: string
  /** Printed as they are, indented: at most 78 characters. */
  readonly lines: readonly string[]
}

export interface Command {
  /** The words as they are typed: `keys create`. */
  readonly name: string
  /** One line of the list of commands. */
  readonly summary: string
  /** More sentences for the help about this command. */
  readonly details?: string
  readonly operands?: readonly Operand[]
  readonly options?: Options
  /** The arguments as usage shows them, where the operands and options alone do not say it. */
  readonly usage?: string
  /** The formats of the files that it reads, and the like. */
  readonly sections?: readonly Section[]
  /** Whole command lines. */
  readonly examples: readonly string[]
  /** It talks to no server, so that address and key mean nothing to it. */
  readonly isLocal?: boolean
  /** Its output is a log: the command goes on if that is lost. */
  readonly outputIsLog?: boolean
  readonly load: () => Promise<Run>
}

/** A failure in the words of the person at the terminal: no stack, and what to do about it. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
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

/** The server understood the request and says what is wrong with it (422). */
export class RefusedError extends CliError {
  /** In the words of the API. */
  readonly messages: readonly string[]

  constructor(message: string, messages: readonly string[]) {
    super(message)
    this.messages = messages
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, { exitCode: 2 })
}
