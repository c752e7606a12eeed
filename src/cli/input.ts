// Reads files and the standard input, and sends a file of any length with a line about its progress.
import { createReadStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Transform, type Readable, type Writable } from 'node:stream'
import type { Type, TSchema } from 'typebox'
import type { Immutable } from '../contract/fields.ts'
import { systemCode } from '../lib/system-error.ts'
import type { AdminCall } from './client.ts'
import { CliError, type CommandContext } from './command.ts'
import { printable } from './table.ts'
import { counted, formatCount, formatSize } from './words.ts'

/** The content of a file, or of the standard input for `-`. Default: the first argument. */
export async function readInput(
  { terminal, positionals }: CommandContext,
  path = positionals[0] ?? '-'
): Promise<Buffer> {
  if (path === '-') return await buffer(terminal.stdin)
  try {
    return await readFile(path)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** The same as a stream. A file that cannot be opened is reported before anything is sent. */
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
  const code = systemCode(cause)
  return new CliError(`${path} cannot be read${code === null ? '' : ` (${code})`}.`, { cause })
}

const refusedShownMax = 20

/** Streams the file (or standard input) of the command; resolves with the answer of the server. */
export async function upload<Schema extends TSchema>(
  context: CommandContext,
  schema: Schema,
  call: Omit<AdminCall, 'body' | 'json'>
): Promise<Immutable<Type.Static<Schema>>> {
  const input = await openInput(context)
  const progress = createProgress(context.terminal.stderr)
  const body = input.pipe(progress.counter)
  // A pipe does not pass errors on: a file that breaks off must not look like one that ended.
  input.once('error', (error) => body.destroy(error))
  try {
    return await context.call(schema, { ...call, body })
  } finally {
    progress.stop()
    input.destroy()
  }
}

interface RefusedLine {
  readonly line: number
  readonly messages: readonly string[]
}

/** The first refused lines, indented, and how many more there are. */
export function describeRefused(
  refused: readonly RefusedLine[],
  refusedCount: number
): readonly string[] {
  const shown = refused.slice(0, refusedShownMax)
  return [
    ...shown.map(
      ({ line, messages }) => `  line ${line}: ${printable(messages.map(withoutBody).join('; '))}`
    ),
    ...(refusedCount > shown.length
      ? [`  and ${formatCount(refusedCount - shown.length)} more`]
      : []),
  ]
}

/** To the API a line is the body of its check. */
export function withoutBody(message: string): string {
  return message.replace(/^body /u, 'it ')
}

interface Progress {
  readonly counter: Transform
  /** Ends the line on a terminal. */
  readonly stop: () => void
}

const terminalMs = 200
const pipedMs = 5_000

function createProgress(stderr: Writable & { readonly isTTY?: boolean }): Progress {
  let bytes = 0
  let lineCount = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      for (const byte of chunk) if (byte === 0x0a) lineCount += 1
      done(null, chunk)
    },
  })
  const isTerminal = stderr.isTTY === true
  const show = () => {
    const text = `${counted(lineCount, 'line')}, ${formatSize(bytes)} sent`
    stderr.write(isTerminal ? `\r\u001B[K${text}` : `${text}\n`)
  }
  const timer = setInterval(show, isTerminal ? terminalMs : pipedMs)
  timer.unref()
  return {
    counter,
    stop: () => {
      clearInterval(timer)
      if (!isTerminal) return
      show()
      stderr.write('\n')
    },
  }
}
