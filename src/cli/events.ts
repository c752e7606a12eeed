import { Transform, type Writable } from 'node:stream'
import { Type } from 'typebox'
import { eventsResultSchema } from '../contract/admin.ts'
import type { Command } from './context.ts'
import { openInput } from './input.ts'
import { readAs } from './read-as.ts'
import { printable } from './table.ts'

const refusedShownMax = 20

const readResult = readAs(
  Type.Intersect([
    eventsResultSchema,
    Type.Object({ refusedCount: Type.Optional(Type.Integer({ minimum: 0 })) }),
  ])
)

export const eventsLoad: Command = {
  name: 'events load',
  usage: 'FILE|-',
  summary: 'Load events of the past, one JSON object per line, whatever the length of the file',
  options: {},
  positionalCount: 1,
  run: async (context) => {
    const input = await openInput(context)
    const progress = createProgress(context.terminal.stderr)
    const body = input.pipe(progress.counter)
    // A pipe hands on no failures: a file that breaks off must not look like one that ended.
    input.once('error', (error) => body.destroy(error))
    try {
      const contentType = 'application/x-ndjson'
      const call = { method: 'POST', path: '/events', body, contentType } as const
      const result = readResult(await context.client().call(call))
      progress.stop()
      const refusedCount = result.refusedCount ?? result.refused.length
      const shown = result.refused.slice(0, refusedShownMax)
      const lines = [
        `${result.accepted} events accepted, ${refusedCount} refused.`,
        ...shown.map(({ line, messages }) => `  line ${line}: ${printable(messages.join('; '))}`),
        ...(refusedCount > shown.length ? [`  and ${refusedCount - shown.length} more`] : []),
      ]
      context.print(result, lines.join('\n'))
      return refusedCount === 0 ? 0 : 1
    } finally {
      progress.stop()
      input.destroy()
    }
  },
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
