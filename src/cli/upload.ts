// Sends a file of any length, with a line about how far it has come.
import { Transform, type Writable } from 'node:stream'
import type { AdminCall } from './client.ts'
import type { CommandContext } from './context.ts'
import { openInput } from './input.ts'
import { printable } from './table.ts'

const refusedShownMax = 20

/** Streams the file (or standard input) of the command; the answer of the server comes back. */
export async function upload(
  context: CommandContext,
  call: Omit<AdminCall, 'body'>
): Promise<unknown> {
  const input = await openInput(context)
  const progress = createProgress(context.terminal.stderr)
  const body = input.pipe(progress.counter)
  // A pipe hands on no failures: a file that breaks off must not look like one that ended.
  input.once('error', (error) => body.destroy(error))
  try {
    return await context.client().call({ ...call, body })
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
    ...shown.map(({ line, messages }) => `  line ${line}: ${printable(messages.join('; '))}`),
    ...(refusedCount > shown.length ? [`  and ${refusedCount - shown.length} more`] : []),
  ]
}

interface Progress {
  readonly counter: Transform
  /** Ends the line on a terminal; may be called twice. */
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
    const text = `${lineCount} lines, ${(bytes / 1_048_576).toFixed(1)} MiB sent`
    stderr.write(isTerminal ? `\r${text}` : `${text}\n`)
  }
  const timer = setInterval(show, isTerminal ? terminalMs : pipedMs)
  timer.unref()
  let isStopped = false
  return {
    counter,
    stop: () => {
      if (isStopped) return
      isStopped = true
      clearInterval(timer)
      if (!isTerminal) return
      show()
      stderr.write('\n')
    },
  }
}
