import { createReadStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { CliError } from './cli-error.ts'
import type { CommandContext } from './context.ts'

/** The whole of a file, or of the standard input for `-`. */
export async function readInput({ terminal, positionals }: CommandContext): Promise<Buffer> {
  const [path = '-'] = positionals
  if (path === '-') return await buffer(terminal.stdin)
  try {
    return await readFile(path)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** The same as a stream; a file that cannot be opened is told before anything is sent. */
export async function openInput({ terminal, positionals }: CommandContext): Promise<Readable> {
  const [path = '-'] = positionals
  if (path === '-') return terminal.stdin
  try {
    const file = await open(path)
    if ((await file.stat()).isDirectory()) {
      await file.close()
      throw new CliError(`${path} is a folder.`)
    }
    return createReadStream(path, { fd: file })
  } catch (cause) {
    throw cause instanceof CliError ? cause : unreadable(path, cause)
  }
}

function unreadable(path: string, cause: unknown): CliError {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return new CliError(`${path} cannot be read${code}.`, { cause })
}
