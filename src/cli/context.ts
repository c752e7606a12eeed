import type { Readable, Writable } from 'node:stream'
import type { AdminClient } from './client.ts'

export type Environment = Readonly<Record<string, string | undefined>>

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
  /** Without options. */
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  /** Finds address and key when first asked for: `help` needs neither. */
  readonly client: () => AdminClient
  /** Prints the value with `--json`, else the text. */
  readonly print: (value: unknown, text: string) => void
}

export interface Command {
  /** As typed: `keys create`. */
  readonly name: string
  /** What follows the name. */
  readonly usage: string
  readonly summary: string
  /** Beyond those that every command has. */
  readonly options: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>
  readonly positionalCount: number
  /** How many more may follow. Default 0. */
  readonly optionalCount?: number
  run(context: CommandContext): Promise<number>
}
